/** Finds tool uses and results in a transcript by their shape: a use has a name, an input and an id; a result has that id. */
import { isRecord } from "../../../base/json.ts";
import type { LineRule } from "../../contract/profile.ts";
import { valueAt } from "../../registry/paths.ts";
import { FILE_KEYS } from "./fields.ts";
import { covering, grouped, kindOf, type Node, type Tests } from "./nodes.ts";
import { isText, leavesOf, squeezed } from "./walk.ts";

const NAMES = ["name", "toolName", "tool_name", "function.name", "tool"];
const INPUTS = ["input", "args", "arguments", "parameters", "params", "function.arguments", "toolInput", "tool_input"];
const IDS = ["toolCallId", "tool_call_id", "tool_use_id", "toolUseId", "callId", "call_id", "id"];
const RESULTS = ["content", "output", "result", "response", "text", "toolResult", "tool_result"];
const INNER = ["output", "content", "text", "result", "stdout", "error", "message"];

export interface ToolUse {
  node: Node;
  id: string;
  name: string;
  input: unknown;
  paths: { name: string; id: string; input: string };
}

export interface ToolRules {
  rules: LineRule[];
  uses: ToolUse[];
  /** The lines with results: text in them is not the user's. */
  resultLines: Set<number>;
  /** Every object that is a use or a result. */
  nodes: Set<unknown>;
}

export function proposeToolRules(nodes: readonly Node[]): ToolRules {
  const all = nodes.flatMap((node) => useIn(node) ?? []);
  const uses = covering(
    grouped(all, ({ node, paths }) => kindOf(node) + JSON.stringify(paths)),
    ({ id }) => id,
  );
  const ids = new Set(all.map(({ id }) => id));
  const useNodes = new Set(all.map(({ node }) => node.value));
  const found = nodes.flatMap((node) => (useNodes.has(node.value) ? [] : (resultIn(node, ids) ?? [])));
  const results = covering(
    grouped(found, ({ node, idPath, at }) => kindOf(node) + idPath + at),
    ({ id }) => id,
  );
  return {
    rules: [...uses.map(useRule), ...results.map(resultRule)],
    uses: uses.flat(),
    resultLines: new Set(found.map(({ node }) => node.line)),
    nodes: new Set([...useNodes, ...found.map(({ node }) => node.value)]),
  };
}

function useIn(node: Node): ToolUse | undefined {
  const name = firstKey(node.value, NAMES, isText);
  const input = firstKey(node.value, INPUTS, (value) => isRecord(value) || isText(value));
  const id = firstKey(node.value, IDS, isText);
  if (!name || !input || !id) return undefined;
  const paths = { name: name.key, id: id.key, input: input.key };
  return { node, id: String(id.value), name: String(name.value), input: objectOf(input.value), paths };
}

/** OpenAI's form has the arguments as text. */
function objectOf(input: unknown): unknown {
  if (typeof input !== "string" || !input.startsWith("{")) return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

interface Result {
  node: Node;
  id: string;
  idPath: string;
  /** The key with what the tool gave back. */
  at: string;
}

function resultIn(node: Node, ids: ReadonlySet<string>): Result | undefined {
  const id = firstKey(node.value, IDS, (value) => typeof value === "string" && ids.has(value));
  const said = firstKey(node.value, RESULTS, (value) => value !== undefined && value !== null);
  return id && said ? { node, id: String(id.value), idPath: id.key, at: said.key } : undefined;
}

function useRule(group: readonly ToolUse[]): LineRule {
  const [first] = group as [ToolUse];
  const { node, paths } = first;
  const under = (key: string) => [`${node.path}.${key}`];
  const files = new Set(
    group.flatMap(({ input }) =>
      leavesOf(input, 1).flatMap(({ path, key, value }) =>
        FILE_KEYS.includes(squeezed(key)) && isText(value) ? [`${node.path}.${paths.input}${path.slice(1)}`] : [],
      ),
    ),
  );
  return {
    is: "tool-use",
    ...nodeSelector(node, paths.name),
    tool_name: under(paths.name),
    tool_use_id: under(paths.id),
    tool_input: under(paths.input),
    ...(files.size > 0 ? { file_paths: [...files] } : {}),
  };
}

function resultRule(group: readonly Result[]): LineRule {
  const [{ node, idPath, at }] = group as [Result];
  const inner = group.flatMap(({ node: each }) => {
    const value = valueAt(each.value, `$.${at}`);
    return isRecord(value) ? Object.keys(value) : [];
  });
  const texts = INNER.filter((key) => inner.includes(key)).map((key) => `${node.path}.${at}.${key}`);
  const failed = failure(group, at);
  return {
    is: "tool-result",
    ...nodeSelector(node, idPath),
    ...(Object.hasOwn(node.value, "name") ? { tool_name: [`${node.path}.name`] } : {}),
    tool_use_id: [`${node.path}.${idPath}`],
    text: texts.length > 0 ? texts : [`${node.path}.${at}`],
    ...(failed ? { failed_when: failed } : {}),
  };
}

/** How the agent marks a tool that failed. */
function failure(group: readonly Result[], at: string): Tests | undefined {
  const base = group[0]?.node.path ?? "$";
  for (const key of ["is_error", "isError", `${at}.is_error`, `${at}.isError`]) {
    if (group.some(({ node }) => typeof valueAt(node.value, `$.${key}`) === "boolean"))
      return { [`${base}.${key}`]: true };
  }
  const errors = group.filter(({ node }) => isText(valueAt(node.value, `$.${at}.error`)));
  return errors.length > 0 && errors.length < group.length ? { [`${base}.${at}.error`]: { exists: true } } : undefined;
}

/** Tests that identify a node's kind: by its words, or by the key that it has. */
export function nodeSelector(node: Node, key: string): Pick<LineRule, "when" | "in" | "each"> {
  const when = Object.keys(node.when).length > 0 ? { when: node.when } : {};
  const has: Tests = { [node.path === "$" ? `$.${key}` : node.path]: { exists: true } };
  if (node.list === null) return Object.keys(node.when).length > 0 ? when : { when: has };
  return { ...when, in: [node.list], each: Object.keys(node.each).length > 0 ? node.each : has };
}

function firstKey(
  value: Record<string, unknown>,
  keys: readonly string[],
  fits: (value: unknown) => boolean,
): { key: string; value: unknown } | undefined {
  for (const key of keys) {
    const parts = key.split(".");
    // As written: a path would also find other spellings.
    const found = parts.reduce<unknown>(
      (at, part) => (isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined),
      value,
    );
    if (fits(found)) return { key, value: found };
  }
  return undefined;
}
