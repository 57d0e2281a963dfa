/**
 * Checks what a push would publish. Checkpoints are redacted when they are written, but the branch may contain data
 * from another tool, from an older version with fewer rules, or from before the user added a rule. History is not
 * rewritten, so a push that would publish something that looks secret is refused.
 */

import { join } from "node:path";
import { readJson, writeJson } from "../../base/fs/files.ts";
import { loadConfig } from "../../config/load.ts";
import { gitIn } from "../../git/git.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import type { Workspace } from "../../git/workspace.ts";
import { NAME_RULE } from "../../transcripts/redact/paths.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type Redactor } from "../../transcripts/redact/redactor.ts";
import {
  BACKTRAIL_FILE,
  CONTENT_HASH_FILE,
  CONTEXT_FILE,
  LINKS_FILE,
  METADATA_FILE,
  PROMPT_FILE,
} from "../format/layout.ts";
import { parseBacktrailRecord, parseSessionMetadata } from "../format/parse.ts";
import { CheckpointError, type SecretFile } from "../problems.ts";
import { promptsIn } from "../read/read.ts";
import { redactionVersion } from "../write/redaction.ts";
import { directory } from "./state.ts";

/** GitHub rejects files of 100 MiB, and other hosts are no more generous. */
const MAX_BLOB = 100 * 1024 * 1024 - 1;

interface Checked {
  v: 1;
  redaction: string;
  /** Everything reachable from this commit was found clean. */
  commit: string;
}

/** Throws if `tip` contains something that must not be published and that `theirs` does not have. */
export async function requireClean(workspace: Workspace, tip: string, theirs: string | null): Promise<void> {
  const { redaction } = loadConfig(workspace);
  const version = redactionVersion(redaction);
  const before = checkedBefore(workspace, version);
  if (before === tip) return;
  const redactor = await createRedactor(redaction);
  const reader = new ObjectReader(workspace);
  const found: SecretFile[] = [];
  let count = 0;
  try {
    for (const { id, path } of await outgoing(workspace, tip, [theirs, before])) {
      const object = await reader.read(id);
      if (object?.type !== "blob") continue;
      if (object.data.length > MAX_BLOB) throw tooLarge(path, object.data.length);
      const rules = secretsIn(redactor, path.split("/").at(-1) ?? "", object.data);
      count += rules.length;
      if (rules.length > 0) found.push({ path, rules: [...new Set(rules)] });
    }
  } finally {
    reader.close();
  }
  if (count > 0) throw unclean(count, found);
  writeJson(checkedFile(workspace), { v: 1, redaction: version, commit: tip } satisfies Checked);
}

/** Checks each part separately, as it is redacted: adjacent parts of a file need not belong together. */
function secretsIn(redactor: Redactor, name: string, data: Buffer): string[] {
  const placeholders = new PlaceholderTable();
  const look = (input: Buffer | string, format?: "text") =>
    redactor.redact(input, { placeholders, again: true, ...(format ? { format } : {}) }).found.map(({ rule }) => rule);
  const texts = (all: readonly (string | null | undefined)[]) =>
    all.flatMap((text) => (text ? look(text, "text") : []));
  // A name that is only odd (such as a checksum) is redacted on write; an older one is no reason to refuse the push.
  const names = (all: readonly string[]) =>
    [...new Set(all)].flatMap((path) =>
      redactor.secretsInPath(path).flatMap(({ rule }) => (rule === NAME_RULE ? [] : [rule])),
    );
  if (name === CONTENT_HASH_FILE || name === LINKS_FILE) return [];
  if (name === PROMPT_FILE) return texts(promptsIn(data.toString("utf8")));
  if (name === CONTEXT_FILE) return look(data, "text");
  if (name === BACKTRAIL_FILE) {
    const record = parseBacktrailRecord(data);
    if (record.ok) {
      const { steps, attribution } = record.value;
      const paths = [...steps.flatMap(({ files }) => files), ...attribution.map(({ path }) => path)];
      return [...texts(steps.flatMap(({ prompt, response }) => [prompt, response])), ...names(paths)];
    }
  }
  if (name === METADATA_FILE) {
    const metadata = parseSessionMetadata(data);
    if (!metadata.ok) return [];
    const { summary, files_touched, branch, transcript_path } = metadata.value;
    const chosen = [...files_touched, ...(branch ? [branch] : []), ...(transcript_path ? [transcript_path] : [])];
    return [...(summary ? texts(stringsIn(summary)) : []), ...names(chosen)];
  }
  return look(data);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

async function outgoing(
  workspace: Workspace,
  tip: string,
  known: readonly (string | null)[],
): Promise<{ id: string; path: string }[]> {
  const without = known.flatMap((commit) => (commit === null ? [] : [`^${commit}`]));
  const listed = await gitIn(workspace).run(["rev-list", "--objects", "--stdin"], {
    input: `${[tip, ...without].join("\n")}\n`,
  });
  return listed
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const [, id = "", path = ""] = /^([0-9a-f]+) (.+)$/.exec(line) ?? [];
      return id === "" ? [] : [{ id, path }];
    });
}

function checkedBefore(workspace: Workspace, version: string): string | null {
  try {
    const checked = readJson(checkedFile(workspace)) as Checked | undefined;
    if (checked?.v !== 1 || checked.redaction !== version || !/^[0-9a-f]{40,64}$/.test(checked.commit)) return null;
    return checked.commit;
  } catch {
    return null;
  }
}

function checkedFile(workspace: Workspace): string {
  return join(directory(workspace), "checked.json");
}

function unclean(count: number, files: SecretFile[]): CheckpointError {
  return new CheckpointError("refused", { kind: "push-has-secrets", count, files });
}

function tooLarge(path: string, bytes: number): CheckpointError {
  return new CheckpointError("refused", { kind: "push-too-large", path, bytes });
}
