import { expect, test } from "bun:test";
import { join } from "node:path";
import { isSentence, literalsIn, sentencesBelowCli, sentencesOf } from "../scripts/sentences.ts";

/**
 * Sentences that each layer below cli/ still words itself. The numbers only fall: a new refusal or note is a kind with
 * data, and cli/render/words has its text (docs/design/facts-and-sentences.md).
 */
const LIMITS: Readonly<Record<string, number>> = {
  api: 2,
  base: 0,
  checkpoints: 47,
  commits: 13,
  config: 25,
  edit: 19,
  git: 5,
  maintenance: 120,
  model: 0,
  recording: 6,
  restore: 7,
  run: 5,
  setup: 4,
  steps: 2,
  transcripts: 14,
  trials: 0,
};

const SENTENCES = sentencesBelowCli(join(import.meta.dirname, "../src"));

test.each(Object.entries(LIMITS))("%s/ words at most %i sentences itself", (layer, limit) => {
  const found = SENTENCES.get(layer) ?? [];
  const listed = found.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  expect(found.length > limit ? listed : []).toEqual([]);
});

test("sentences are told from names, paths and commands", () => {
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
    `const text = \`The fork \${name(\`in the \${place} of it\`)} is gone.\`;`,
  ].join("\n");
  expect(literalsIn(source).map(({ text }) => text)).toContain("in the {} of it");
  expect(sentencesOf("a.ts", source).map(({ line, text }) => [line, text])).toEqual([
    [5, "The fork {} is gone."],
    [5, "in the {} of it"],
  ]);
});
