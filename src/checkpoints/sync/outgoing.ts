/**
 * What is about to leave the machine, looked at once more. Checkpoints are redacted when they are written, but the branch may hold what
 * another tool wrote, an older version with fewer rules, or this one before the user added a rule: history is not rewritten, so a
 * push that would publish something that looks secret is refused.
 */
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { plural, shownPath } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import { ObjectReader } from "../../git/reader.ts";
import { git } from "../../git/run.ts";
import { isTracked } from "../../git/tracked.ts";
import type { Workspace } from "../../git/workspace.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type Redactor } from "../../transcripts/redact/redactor.ts";
import { BACKTRAIL_FILE, CONTENT_HASH_FILE, CONTEXT_FILE, LINKS_FILE, METADATA_FILE, PROMPT_FILE } from "../layout.ts";
import { parseBacktrailRecord, parseSessionMetadata } from "../parse.ts";
import { promptsIn } from "../read.ts";
import { redactionVersion } from "../redacted.ts";
import { directory } from "./state.ts";

/** GitHub takes no file of 100 MiB; others are no more generous. */
const LARGEST_BLOB = 100 * 1024 * 1024 - 1;
const SHOWN = 5;

interface Checked {
  v: 1;
  redaction: string;
  /** Everything that this commit leads to was found clean. */
  commit: string;
}

/** Throws where something in `tip` that `theirs` does not have must not leave. */
export async function requireClean(workspace: Workspace, tip: string, theirs: string | null): Promise<void> {
  const { redaction } = loadConfig(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  const version = redactionVersion(redaction);
  const before = checkedBefore(workspace, version);
  if (before === tip) return;
  const redactor = await createRedactor(redaction);
  const reader = new ObjectReader(workspace);
  const found: string[] = [];
  let count = 0;
  try {
    for (const { id, path } of await outgoing(workspace, tip, [theirs, before])) {
      const object = await reader.read(id);
      if (object?.type !== "blob") continue;
      if (object.data.length > LARGEST_BLOB) throw tooLarge(path, object.data.length);
      const rules = secretsIn(redactor, path.split("/").at(-1) ?? "", object.data);
      count += rules.length;
      if (rules.length > 0) found.push(`${shownPath(path)} (${[...new Set(rules)].join(", ")})`);
    }
  } finally {
    reader.close();
  }
  if (count > 0) throw unclean(count, found);
  writeJson(checkedFile(workspace), { v: 1, redaction: version, commit: tip } satisfies Checked);
}

/** Each part as it was redacted, or should have been: what is next to each other in a file need not belong together. */
function secretsIn(redactor: Redactor, name: string, data: Buffer): string[] {
  const placeholders = new PlaceholderTable();
  const look = (input: Buffer | string, format?: "text") =>
    redactor.redact(input, { placeholders, again: true, ...(format ? { format } : {}) }).found.map(({ rule }) => rule);
  const texts = (all: readonly (string | null | undefined)[]) =>
    all.flatMap((text) => (text ? look(text, "text") : []));
  if (name === CONTENT_HASH_FILE || name === LINKS_FILE) return [];
  if (name === PROMPT_FILE) return texts(promptsIn(data.toString("utf8")));
  if (name === CONTEXT_FILE) return look(data, "text");
  if (name === BACKTRAIL_FILE) {
    const record = parseBacktrailRecord(data);
    if (record.ok) return texts(record.value.steps.flatMap(({ prompt, response }) => [prompt, response]));
  }
  if (name === METADATA_FILE) {
    const metadata = parseSessionMetadata(data);
    const summary = metadata.ok ? metadata.value.summary : undefined;
    return summary ? texts(stringsIn(summary)) : [];
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
  const listed = await git(["rev-list", "--objects", "--stdin"], {
    cwd: workspace.root,
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

function unclean(count: number, found: readonly string[]): UserError {
  const more = found.length > SHOWN ? ` and ${plural(found.length - SHOWN, "more file")}` : "";
  return new UserError(
    "refused",
    `Nothing was pushed: ${plural(count, "text")} in the checkpoints ${count === 1 ? "looks" : "look"} secret: ${found.slice(0, SHOWN).join("; ")}${more}.`,
    "They were written before the rules knew them. If they are harmless, add them to the setting redaction.allow; --anyway pushes all the same.",
  );
}

function tooLarge(path: string, size: number): UserError {
  return new UserError(
    "refused",
    `Nothing was pushed: ${shownPath(path)} has ${Math.ceil(size / (1024 * 1024))} MiB, which hosts refuse.`,
    "--anyway pushes all the same.",
  );
}
