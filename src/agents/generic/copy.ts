/** Copies the part of a conversation up to a cut point, with new ids, and keeps everything else as the agent wrote it. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/json.ts";
import { isInside } from "../../base/paths.ts";
import { completeLines, type Line, parseLine } from "../../transcripts/lines.ts";
import type { LinesSection } from "../contract/profile.ts";
import { leafAt, textAt, valueAt } from "../registry/paths.ts";
import { CutPoints } from "../shared/transcript/cut-points.ts";
import { filled, type Values } from "./fill.ts";
import { type Description, messagesIn, readLine, readMessage } from "./transcript.ts";

export interface Renewal {
  oldId: string;
  sessionId: string;
  /** The work tree that the copy is for. */
  root: string;
  title: string;
  /** Fills a pattern of the profile for the copy. */
  place(pattern: string): string;
  /** A message to add at the end; null for none. */
  notice: { template: unknown; values: Values } | null;
}

/** Of lines: the last cut point up to the line `lastId`, or the last one of all. Keeps foreign lines. */
export function cutLines(bytes: Buffer, lastId: string | null, description: Description, renewal: Renewal): Buffer {
  const { lines } = description;
  const cuts = new CutPoints();
  let cut = 0;
  let cutAtId: number | null = null;
  let hasSaid = false;
  for (const at of completeLines(bytes)) {
    const line = readLine(parseLine(bytes, at), description);
    hasSaid ||= line?.items.some(({ kind }) => kind === "prompt" || kind === "answer") ?? false;
    if (!line || cuts.add(line.items)) cut = at.end + 1;
    if (lastId !== null && line?.id === lastId) cutAtId = cut;
  }
  const kept = bytes.subarray(0, hasSaid ? (cutAtId ?? cut) : 0);
  const base = firstText(kept, lines);
  const parts = [...completeLines(kept)].map((at) => renewedLine(kept, at, lines, renewal, base));
  if (renewal.notice === null || kept.length === 0) return Buffer.concat(parts);
  const parent = lastIdIn(kept, description);
  const added = filled(renewal.notice.template, { ...renewal.notice.values, parent });
  return Buffer.concat([...parts, Buffer.from(`${JSON.stringify(added)}\n`)]);
}

/** Of one document: the messages up to the last cut point, and everything else that the document holds. */
export function cutDocument(bytes: Buffer, lastId: string | null, description: Description, renewal: Renewal): Buffer {
  const { lines } = description;
  const document: unknown = parseLine(bytes, { start: 0, end: bytes.length });
  const leaf = lines.list === undefined ? undefined : leafAt(document, lines.list);
  if (!isRecord(document) || !leaf) return Buffer.alloc(0);
  const messages = messagesIn(bytes, lines);
  const cuts = new CutPoints();
  let count = 0;
  for (const [index, message] of messages.entries()) {
    const line = readMessage(message, index, description);
    if (!line || cuts.add(line.items)) count = index + 1;
    if (lastId !== null && line?.id === lastId) break;
  }
  if (count === 0) return Buffer.alloc(0);
  const kept = messages.slice(0, count);
  const base = textAt(document, lines.cwd);
  for (const value of [document, ...kept]) renew(value, lines, renewal, base);
  const parent = kept.map((message) => textAt(message, lines.id)).findLast((id) => id !== null) ?? null;
  const added = renewal.notice && filled(renewal.notice.template, { ...renewal.notice.values, parent });
  leaf.parent[leaf.name] = added ? [...kept, added] : kept;
  return Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
}

function lastIdIn(bytes: Buffer, { lines }: Description): string | null {
  let last: string | null = null;
  for (const at of completeLines(bytes)) last = textAt(parseLine(bytes, at), lines.id) ?? last;
  return last;
}

/** The directory that the conversation was begun in. */
function firstText(bytes: Buffer, { cwd }: LinesSection): string | null {
  if (!cwd) return null;
  for (const at of completeLines(bytes)) {
    const found = textAt(parseLine(bytes, at), cwd);
    if (found !== null) return found;
  }
  return null;
}

/** The paths whose text changes in a copy, with the new text. */
function* changesIn(
  value: unknown,
  lines: LinesSection,
  { oldId, sessionId, root, title, place }: Renewal,
  base: string | null,
): Generator<[path: string, text: string]> {
  for (const path of lines.session_id ?? []) if (valueAt(value, path) === oldId) yield [path, sessionId];
  const titlePath = lines.title?.find((path) => typeof valueAt(value, path) === "string");
  if (titlePath !== undefined) yield [titlePath, title];
  for (const [path, pattern] of Object.entries(lines.replaced ?? {})) {
    const found = valueAt(value, path);
    if (typeof found === "string" && found !== place(pattern)) yield [path, place(pattern)];
  }
  for (const path of lines.cwd ?? []) {
    const directory = valueAt(value, path);
    if (typeof directory !== "string" || base === null || directory === root || isInside(root, directory)) continue;
    if (directory === base) yield [path, root];
    else if (directory.startsWith(`${base}/`)) yield [path, `${root}${directory.slice(base.length)}`];
  }
}

function renew(value: unknown, lines: LinesSection, renewal: Renewal, base: string | null): void {
  for (const [path, text] of [...changesIn(value, lines, renewal, base)]) {
    const leaf = leafAt(value, path);
    if (leaf) leaf.parent[leaf.name] = text;
  }
}

function renewedLine(bytes: Buffer, at: Line, lines: LinesSection, renewal: Renewal, base: string | null): Buffer {
  const changes = [...changesIn(parseLine(bytes, at), lines, renewal, base)];
  if (changes.length === 0) return bytes.subarray(at.start, at.end + 1);
  let text = bytes.toString("utf8", at.start, at.end);
  for (const [path, replacement] of changes) text = withText(text, path, replacement);
  return Buffer.from(`${text}\n`);
}

/** Replaces the string at `path` in a JSON line, and keeps every other character as the agent wrote it. */
export function withText(line: string, path: string, replacement: string): string {
  const wanted: unknown = JSON.parse(line);
  const leaf = leafAt(wanted, path);
  if (!leaf) return line;
  const old = leaf.parent[leaf.name];
  leaf.parent[leaf.name] = replacement;
  const needle = JSON.stringify(old);
  for (let at = line.indexOf(needle); at >= 0; at = line.indexOf(needle, at + 1)) {
    const tried = line.slice(0, at) + JSON.stringify(replacement) + line.slice(at + needle.length);
    if (says(tried, wanted)) return tried;
  }
  // The agent escaped the string differently, so serialize the whole line again.
  return JSON.stringify(wanted);
}

function says(line: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(line), value);
  } catch {
    return false;
  }
}
