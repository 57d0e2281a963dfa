/** Finds prompts, answers and thoughts in a transcript: by what hooks sent, and by the words lines say of themselves. */
import type { LineRule } from "../../contract/profile.ts";
import { holds } from "../../registry/conditions.ts";
import { valueAt } from "../../registry/paths.ts";
import { covering, grouped, kindOf, type Node, type Tests, tagWords } from "./nodes.ts";
import { nodeSelector, type ToolRules } from "./tool-rules.ts";
import { isText, leavesOf, proseOf } from "./walk.ts";

const TEXT_KEYS = ["text", "content", "message", "prompt", "parts", "input", "thinking", "think", "reasoning"];
const USER = /(^|[._-])(user|human|prompt)s?($|[._-])/i;
const ASSISTANT = /(^|[._-])(assistant|model|ai|bot|agent_message|answer|gemini)($|[._-])/i;
const OTHERS = /(^|[._-])(system|tool|developer|summary|attachment)($|[._-])/i;
const THINKING = /think|reason|thought/i;
/** Names of fields that distinguish a user's message from one that the agent generated. */
const ORIGIN = /^(is[A-Z_].*|provenance|subtype|kind|source|origin|synthetic|hidden|meta|internal|injected)$/;

interface Text {
  node: Node;
  key: string;
  text: string;
}

export interface TextRules {
  rules: LineRule[];
  /** What the user typed, as far as the rules find it. */
  promptLines: number[];
  promptText: string | undefined;
}

export function proposeTextRules(
  lines: readonly unknown[],
  nodes: readonly Node[],
  tools: ToolRules,
  known: { prompts: readonly string[]; answers: readonly string[] },
): TextRules {
  const texts = nodes.filter(({ value }) => !tools.nodes.has(value)).flatMap(textsIn);
  const prompts = promptGroup(texts, tools, known.prompts);
  const rules: LineRule[] = [];
  let promptText: string | undefined;
  if (prompts.length > 0) {
    const [{ node, key }] = prompts as [Text];
    const when = { ...node.when, ...ownWords(lines, prompts, texts, tools, known.prompts) };
    rules.push({ is: "prompt", ...(Object.keys(when).length > 0 ? { when } : {}), text: [`${node.path}.${key}`] });
    promptText = wrapping(prompts.map(({ text }) => text));
  }
  const promptLines = new Set(prompts.map(({ node }) => node.line));
  const rest = texts.filter(({ node }) => !promptLines.has(node.line) && !tools.resultLines.has(node.line));
  rules.push(...answerRules(rest, known), ...thinkingRules(rest), ...compactionRules(nodes));
  return { rules, promptLines: [...promptLines], promptText };
}

function textsIn(node: Node): Text[] {
  return TEXT_KEYS.flatMap((key) => {
    const value = Object.hasOwn(node.value, key) ? node.value[key] : undefined;
    // A member's own list would be a list in a list.
    const text = node.list === null ? proseOf(value) : value;
    return isText(text) ? [{ node, key, text }] : [];
  });
}

/** The kind of line in which the user's prompts are. */
function promptGroup(texts: readonly Text[], tools: ToolRules, prompts: readonly string[]): Text[] {
  const own = texts.filter(({ node }) => node.list === null && !tools.resultLines.has(node.line));
  const groups = grouped(own, ({ node, key }) => kindOf(node) + key);
  const scored = groups.map((group) => {
    const [{ node, key }] = group as [Text];
    const hit = new Set(group.flatMap(({ text }) => prompts.filter((prompt) => says(text, prompt))));
    const words = tagWords(node);
    return {
      group,
      found: hit.size,
      isUser: words.some((word) => USER.test(word)),
      share: group.filter(({ text }) => prompts.some((prompt) => says(text, prompt))).length / group.length,
      isOther: words.some((word) => OTHERS.test(word) || ASSISTANT.test(word)),
      depth: node.path.split(".").length + (key === "message" ? 1 : 0),
    };
  });
  const candidates = scored.filter(
    ({ found, isUser, isOther }) => !isOther && (prompts.length > 0 ? found > 0 : isUser),
  );
  candidates.sort(
    (a, b) =>
      b.found - a.found ||
      Number(b.isUser) - Number(a.isUser) ||
      b.share - a.share ||
      a.depth - b.depth ||
      (a.group[0]?.node.line ?? 0) - (b.group[0]?.node.line ?? 0),
  );
  return candidates[0]?.group ?? [];
}

/** The text is the prompt, perhaps in a wrapping of the agent's. */
function says(text: string, prompt: string): boolean {
  const [said, asked] = [text.trim(), prompt.trim()];
  return said === asked || (said.startsWith("<") && said.includes(asked) && said.length <= asked.length + 300);
}

/** Conditions that exclude lines that look the same and that the user did not type. */
function ownWords(
  lines: readonly unknown[],
  group: readonly Text[],
  texts: readonly Text[],
  { resultLines }: ToolRules,
  prompts: readonly string[],
): Tests {
  const [{ node: own, key: ownKey }] = group as [Text];
  const isTyped = ({ text }: Text) => prompts.some((prompt) => says(text, prompt));
  const alike = texts.filter(
    ({ node, key }) =>
      node.list === null &&
      node.path === own.path &&
      key === ownKey &&
      !resultLines.has(node.line) &&
      holds(own.when, lines[node.line]),
  );
  const typed = alike.filter(isTyped);
  let others = alike.filter((each) => !isTyped(each));
  if (typed.length === 0) return {};
  const tests: Tests = {};
  const paths = new Set(
    alike.flatMap(({ node }) =>
      leavesOf(lines[node.line], 3)
        .filter(({ key, value }) => ORIGIN.test(key) && isWord(value))
        .map(({ path }) => path),
    ),
  );
  for (const path of paths) {
    const test = telling(
      typed.map(({ node }) => valueAt(lines[node.line], path) ?? null),
      others.map(({ node }) => valueAt(lines[node.line], path) ?? null),
    );
    if (test === undefined) continue;
    tests[path] = test;
    others = others.filter(({ node }) => holds({ [path]: test }, lines[node.line]));
  }
  return tests;
}

/** The condition that the user's own lines meet and some others don't. */
function telling(mine: readonly unknown[], theirs: readonly unknown[]): Tests[string] | undefined {
  const [value] = mine;
  if (new Set(mine).size !== 1 || theirs.every((each) => each === value)) return undefined;
  if (value === null || value === false) return theirs.includes(true) ? { not: true } : undefined;
  return typeof value === "string" ? [value, null] : undefined;
}

function isWord(value: unknown): boolean {
  return typeof value === "boolean" || (typeof value === "string" && /^[A-Za-z][A-Za-z_-]{0,30}$/.test(value));
}

/** A pattern for an element that the agent puts around every prompt. */
function wrapping(texts: readonly string[]): string | undefined {
  const name = /^<([a-z][a-z_-]{0,40})[\s>]/.exec(texts[0] ?? "")?.[1];
  if (name === undefined) return undefined;
  const isWrapped = (text: string) => text.startsWith(`<${name}`) && text.trimEnd().endsWith(`</${name}>`);
  return texts.every(isWrapped) ? `^<${name}[^>]*>([\\s\\S]*)</${name}>\\s*$` : undefined;
}

function answerRules(
  texts: readonly Text[],
  known: { answers: readonly string[]; prompts: readonly string[] },
): LineRule[] {
  const candidates = texts.filter(
    ({ node, key, text }) => !isThinking(node, key) && !known.prompts.some((prompt) => text.trim() === prompt.trim()),
  );
  const said = candidates.filter(({ node }) => !tagWords(node).some((word) => USER.test(word) || OTHERS.test(word)));
  // A line's list of blocks and the blocks themselves say the same: the blocks tell texts from thoughts.
  const plain = said.filter(({ node, key }) => typeof node.value[key] === "string");
  const groups = grouped(plain, ({ node, key }) => kindOf(node) + key);
  const isTold = (group: Text[]) =>
    group.some(({ node }) => tagWords(node).some((word) => ASSISTANT.test(word))) ||
    group.some(({ text }) => known.answers.some((answer) => answer.trim() === text.trim()));
  const told = new Set(groups.filter(isTold).flatMap((group) => group.map(({ text }) => text.trim())));
  const same = groups.filter((group) => group.filter(({ text }) => told.has(text.trim())).length >= group.length * 0.8);
  return covering(same, ({ text }) => text.trim()).map((group) => textRule("answer", group));
}

function thinkingRules(texts: readonly Text[]): LineRule[] {
  const thoughts = texts.filter(({ node, key }) => isThinking(node, key) && typeof node.value[key] === "string");
  const groups = grouped(thoughts, ({ node, key }) => kindOf(node) + key);
  return covering(groups, ({ text }) => text).map((group) => textRule("thinking", group));
}

function isThinking(node: Node, key: string): boolean {
  const marks = Object.keys(node.value).filter((name) => THINKING.test(name) && node.value[name] === true);
  const own = [...Object.values(node.each), ...(node.list === null ? Object.values(node.when) : [])];
  return THINKING.test(key) || marks.length > 0 || own.some((tag) => typeof tag === "string" && THINKING.test(tag));
}

function textRule(is: "answer" | "thinking", group: readonly Text[]): LineRule {
  const [{ node, key }] = group as [Text];
  const rule: LineRule = { is, ...nodeSelector(node, key), text: [`${node.path}.${key}`] };
  if (node.list === null) return rule;
  const mark = Object.keys(node.value).find((name) => THINKING.test(name) && node.value[name] === true);
  if (is === "thinking" && mark) rule.each = { ...rule.each, [`${node.path}.${mark}`]: true };
  // Members without a type: thoughts are marked, so a member without a mark is an answer.
  if (is === "answer" && Object.keys(node.each).length === 0) rule.each = { ...rule.each, "$.thought": { not: true } };
  return rule;
}

function compactionRules(nodes: readonly Node[]): LineRule[] {
  const lines = nodes.filter(
    ({ list, path, value }) =>
      list === null &&
      path === "$" &&
      [value["type"], value["subtype"]].some((tag) => isText(tag) && /compact|compress/i.test(tag)),
  );
  return grouped(
    lines.map((node) => ({ node })),
    ({ node }) => kindOf(node),
  ).map(([first]) => ({ is: "compaction", when: first?.node.when ?? {} }));
}
