import { expect, test } from "bun:test";
import { join } from "node:path";
import { isSentence, literalsIn, sentencesBelowCli, sentencesOf } from "../scripts/sentences.ts";

/**
 * Sentences that each layer below cli/ still words itself. The numbers only fall: a new refusal or note is a kind with
 * data, and cli/render/words has its text (docs/design/facts-and-sentences.md).
 */
const LIMITS: Readonly<Record<string, number>> = {
  agents: 130,
  api: 0,
  attribution: 0,
  base: 0,
  // 10 of them in shell scripts that git runs.
  checkpoints: 24,
  commits: 9,
  // In the words of the schema that editors use.
  config: 1,
  edit: 0,
  git: 4,
  hub: 46,
  maintenance: 0,
  mcp: 116,
  model: 0,
  proposals: 0,
  recording: 5,
  restore: 6,
  run: 5,
  // SQL, all of it.
  search: 46,
  setup: 4,
  steps: 0,
  team: 5,
  transcripts: 14,
  trials: 0,
  view: 66,
};

/** Here they describe the keys of a profile, for its documentation and for editors. */
const DESCRIPTIONS = "agents/contract/schema/";

const SENTENCES = sentencesBelowCli(join(import.meta.dirname, "../src"));

test("every layer has a limit", () => {
  expect([...SENTENCES.keys()].filter((layer) => !Object.hasOwn(LIMITS, layer))).toEqual([]);
});

test.each(Object.entries(LIMITS))("%s/ words at most %i sentences itself", (layer, limit) => {
  const found = (SENTENCES.get(layer) ?? []).filter(({ file }) => !file.startsWith(DESCRIPTIONS));
  const listed = found.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  expect(found.length > limit ? listed : []).toEqual([]);
});

test("sentences are distinguished from names, paths and commands", () => {
  expect(["The step is gone.", "it was changed since", "There is no fork {}."].map(isSentence)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["refs/heads/main", "rev-parse", "not-found", "git checkout", "a b"].map(isSentence)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("only literals count: no comments, no regular expressions, no text for the log", () => {
  const source = [
    "// The step is gone.",
    "/* It is here to stay. */",
    'const word = /a "quoted" is `here`/;',
    'throw new Error("The journal is of another version.");',
    'log("warn", "pruning", "Nothing was pruned: it is early.");',
    `const text = \`The fork \${name(\`in the \${place} of it\`)} is gone.\`;`,
  ].join("\n");
  expect(literalsIn(source).map(({ text }) => text)).toContain("in the {} of it");
  expect(sentencesOf("a.ts", source).map(({ line, text }) => [line, text])).toEqual([
    [6, "The fork {} is gone."],
    [6, "in the {} of it"],
  ]);
});
