/** Checkpoints as a remote may send them: files of any content, links, names. Read, and what is read is bounded. */
import { rmSync } from "node:fs";
import { hexDigest } from "../../../src/base/digest.ts";
import { UserError } from "../../../src/base/errors.ts";
import {
  parseBacktrailRecord,
  parseSessionMetadata,
  parseSummary,
  parseTask,
} from "../../../src/checkpoints/format/parse.ts";
import { CheckpointReader, promptsIn } from "../../../src/checkpoints/read/read.ts";
import { findWorkspace } from "../../../src/git/workspace.ts";
import { BRANCH, type Content, commitFiles, exampleCheckpoint, ID } from "../../checkpoints/branch.ts";
import { temporaryRepository } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

const example = exampleCheckpoint((text) => `sha256:${hexDigest("sha256", text)}`);
const RECORD = JSON.stringify({
  v: 1,
  session: "s",
  agent: "claude-code",
  steps: [
    {
      id: "klmnopqrstuv",
      kind: "turn-end",
      turn: 1,
      time: "2026-01-01T00:00:00Z",
      prompt: "p",
      response: null,
      files: ["a"],
    },
  ],
  attribution: [{ path: "a", blob: "0".repeat(40), ranges: [{ start: 1, turn: 1, marks: "9f86d081" }] }],
});

/** The parsers alone. */
export const metadata: Target = {
  name: "metadata",
  cost: 1,
  async open() {
    const seeds = [...Object.values(example), RECORD];
    return {
      input(random) {
        const text = random.pick(seeds);
        return random.once(2) ? Buffer.from(damagedJson(random, text)) : damaged(random, Buffer.from(text));
      },
      async run(input) {
        for (const parse of [parseSummary, parseSessionMetadata, parseTask, parseBacktrailRecord]) {
          const parsed = parse(input);
          if (parsed.ok) JSON.stringify(parsed.value);
        }
        promptsIn(Buffer.from(input).toString("utf8"));
      },
    };
  },
};

/** A whole checkpoint of which one file is damaged, replaced by a link, or called otherwise. */
export const checkpoints: Target = {
  name: "checkpoints",
  cost: 60,
  async open() {
    const repository = temporaryRepository();
    const workspace = findWorkspace(repository.path);
    demand(workspace !== undefined, "There is no workspace.");
    const files = { ...example, "a3/b2c4d5e6f7/0/backtrail.json": RECORD };
    return {
      input(random) {
        const file = random.pick(Object.keys(files));
        const text = files[file as keyof typeof files] ?? "";
        const how = random.pick(["json", "bytes", "bytes", "link", "name"]);
        const body = how === "json" ? damagedJson(random, text) : damaged(random, Buffer.from(text));
        return labeled({ file, how, name: random.pick(["-1", "07", "1e3", "x y", "tasks", "full.jsonl.999"]) }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const changed: Record<string, Content> = { ...files };
        const file = about["file"] ?? "";
        if (about["how"] === "name") {
          delete changed[file];
          changed[`a3/b2c4d5e6f7/${about["name"]}/metadata.json`] = body;
        } else changed[file] = about["how"] === "link" ? { link: "/etc/passwd" } : body;
        rmSync(repository.at(".git", `index.${BRANCH.replace(/[^a-z0-9]/gi, "-")}`), { force: true });
        commitFiles(repository, BRANCH, changed);
        const reader = new CheckpointReader(workspace);
        try {
          const found = await reader.find(ID);
          for (const { index } of found?.sessions ?? []) await reader.transcript(ID, index);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        } finally {
          reader.close();
        }
      },
      close: () => repository.remove(),
    };
  },
};
