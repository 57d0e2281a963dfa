/**
 * The images of a conversation: pasted into a prompt, or returned by a tool. Agents keep them in the lines of their
 * transcripts in a few shapes, all of them base64; what it really is, the bytes say, as for files.
 */
import { UserError } from "../../../../base/errors.ts";
import { sessionKey } from "../../../../base/ids.ts";
import { isRecord } from "../../../../base/json.ts";
import type { Entry } from "../../../../model/conversation.ts";
import { readTranscript } from "../../../../steps/conversation/transcript.ts";
import type { Image } from "../../../protocol.ts";
import { imageOf } from "../../repository/contents.ts";
import { wholeConversation } from "../../repository/conversations.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

const MAX_LINE_BYTES = 32 << 20;
const MAX_IMAGES = 12;
const MAX_DEPTH = 10;
const DATA_URL = /^data:image\/[\w.+-]{1,20};base64,/;

/** The entries that have images, by their indexes. */
export async function sessionImages({ repository }: Context, query: Query): Promise<{ entries: number[] }> {
  const { entries, bytes } = await conversationBytes(repository, query.required("session"));
  const first = firstOfLines(entries);
  const found = entries.flatMap((entry, index) => {
    const line = bytes.subarray(entry.start, entry.end);
    // Most lines have none, and need not be parsed.
    if (line.length > MAX_LINE_BYTES || !line.includes("base64")) return [];
    return imagesOf(entry, line, first.get(entry.start) === index).length > 0 ? [index] : [];
  });
  return { entries: found };
}

export async function entryImages({ repository }: Context, query: Query): Promise<{ images: Image[] }> {
  const { entries, bytes } = await conversationBytes(repository, query.required("session"));
  const index = query.number("index", 0, Number.MAX_SAFE_INTEGER);
  const entry = entries[index];
  if (!entry) throw new UserError("not-found", "The conversation has no such entry.");
  const line = bytes.subarray(entry.start, entry.end);
  if (line.length > MAX_LINE_BYTES) return { images: [] };
  return { images: imagesOf(entry, line, firstOfLines(entries).get(entry.start) === index) };
}

async function conversationBytes(
  repository: OpenRepository,
  session: string,
): Promise<{ entries: readonly Entry[]; bytes: Buffer }> {
  const last = repository
    .indexWithMark()
    .turns.all()
    .find((step) => step.session === session && step.transcript !== null);
  const { agent, transcript } = last ?? {};
  if (!agent || !transcript) return { entries: [], bytes: Buffer.alloc(0) };
  const said = await wholeConversation(repository, { agent, session });
  const key = sessionKey(agent, session);
  const bytes = await readTranscript(repository.workspace, key, transcript.generation, transcript.offset);
  return { entries: said?.entries ?? [], bytes: Buffer.from(bytes) };
}

/** Several entries can come from one line: what belongs to none of them in particular is shown with the first. */
function firstOfLines(entries: readonly Entry[]): Map<number, number> {
  const first = new Map<number, number>();
  for (const [index, { start }] of entries.entries()) if (!first.has(start)) first.set(start, index);
  return first;
}

function imagesOf({ type, toolUseId }: Entry, line: Buffer, isFirst: boolean): Image[] {
  const content = parsed(line);
  const own = type === "tool-result" ? resultOf(content, toolUseId) : undefined;
  if (own === undefined && !isFirst) return [];
  const images: Image[] = [];
  collect(own ?? content, images, new Set(), 0);
  return images;
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The block that holds one tool's result, if the line has blocks. */
function resultOf(value: unknown, id: string | null, depth = 0): unknown {
  if (id === null || depth > MAX_DEPTH || typeof value !== "object" || value === null) return undefined;
  if (isRecord(value) && value["tool_use_id"] === id) return value;
  for (const inner of Object.values(value)) {
    const found = resultOf(inner, id, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collect(value: unknown, images: Image[], seen: Set<string>, depth: number): void {
  if (images.length >= MAX_IMAGES || depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    if (DATA_URL.test(value)) add(value.slice(value.indexOf(",") + 1), images, seen);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const data = isRecord(value) ? value["data"] : undefined;
  const isEncoded = isRecord(value) && (value["type"] === "base64" || "mimeType" in value || "mime_type" in value);
  if (isEncoded && typeof data === "string") add(data, images, seen);
  else for (const inner of Object.values(value)) collect(inner, images, seen, depth + 1);
}

/** Some agents keep an image twice in a line: as the model sees it, and as their own screen does. */
function add(base64: string, images: Image[], seen: Set<string>): void {
  const image = imageOf(Buffer.from(base64, "base64"));
  if (!image || seen.has(image.base64)) return;
  seen.add(image.base64);
  images.push(image);
}
