/**
 * The description that an external agent gives of itself. Backtrail asks once per version of the program, and caches
 * the answer, or the failure, in the user's data directory.
 */
import { statSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import { now } from "../../base/clock.ts";
import { hexDigest } from "../../base/digest.ts";
import { messageOf, UserError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/fs/files.ts";
import { isRecord } from "../../base/json.ts";
import { dataDirectory } from "../../base/paths.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { askProgram } from "./call.ts";
import type { ExternalProgram } from "./programs.ts";
import { type Info, PROTOCOL_VERSION } from "./protocol.ts";

/** A failure may be temporary, so its cache entry expires. */
const FAILURE_COUNTS_MS = 10 * 60_000;
const MAX_NAMES = 100;

interface Kept {
  v: 1;
  path: string;
  mtimeMs: number;
  size: number;
  time: string;
  info?: Info;
  failure?: string;
}

/** Throws a UserError if the program is not an external agent. `fresh` bypasses the cache. */
export function infoFrom(program: ExternalProgram, fresh = false): Info {
  const { mtimeMs, size } = statSync(program.path);
  const kept = fresh ? undefined : readKept(program.path, mtimeMs, size);
  if (kept?.info) return kept.info;
  if (kept?.failure !== undefined) throw new UserError("failed", kept.failure);
  const answer: Kept = { v: 1, path: program.path, mtimeMs, size, time: now().toISOString() };
  try {
    const info = checked(program, askProgram(program, ["info"], { root: process.cwd() }));
    keep({ ...answer, info });
    return info;
  } catch (error) {
    keep({ ...answer, failure: messageOf(error) });
    throw error;
  }
}

function checked({ name }: ExternalProgram, value: unknown): Info {
  const wrong = (what: string) => new UserError("failed", `${name} info: ${what}.`);
  if (!isRecord(value)) throw wrong("the answer is not a JSON object");
  if (value["protocol_version"] !== PROTOCOL_VERSION) throw wrong("it does not speak version 1 of the protocol");
  if (value["name"] !== name) throw wrong("its name differs from its program's name");
  const declared = isRecord(value["capabilities"]) ? value["capabilities"] : {};
  const capabilities = Object.fromEntries(Object.entries(declared).filter(([, able]) => able === true));
  // Some agents use their own event names, such as `session.start`.
  const hooks = names(value["hook_names"]).filter((hook) => /^[A-Za-z][\w.-]{0,63}$/.test(hook));
  const leftAlone = [...names(value["protected_dirs"]), ...names(value["protected_files"])];
  if (capabilities["hooks"] && hooks.length === 0) throw wrong("it declares hooks but lists none");
  return {
    protocol_version: PROTOCOL_VERSION,
    name,
    type: words(value["type"]) || name,
    description: words(value["description"]),
    is_preview: value["is_preview"] === true,
    protected_dirs: [...new Set(leftAlone)].filter(isBelowRoot),
    hook_names: capabilities["hooks"] ? [...new Set(hooks)] : [],
    capabilities,
  };
}

function words(value: unknown): string {
  return typeof value === "string" ? shorten(oneLine(value.slice(0, 1_000)), 200) : "";
}

function names(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [];
  return list.filter((item): item is string => typeof item === "string" && item.length <= 1_000).slice(0, MAX_NAMES);
}

/** Protecting the root itself would block every restore. */
function isBelowRoot(directory: string): boolean {
  const path = normalize(directory).replace(/\/$/, "");
  return path !== "" && path !== "." && !isAbsolute(path) && !path.startsWith("..") && !path.includes("\0");
}

function fileFor(path: string): string {
  return join(dataDirectory(), "external", `${hexDigest("sha1", Buffer.from(path))}.json`);
}

function readKept(path: string, mtimeMs: number, size: number): Kept | undefined {
  try {
    const kept = readJson(fileFor(path)) as Kept | undefined;
    if (kept?.v !== 1 || kept.path !== path || kept.mtimeMs !== mtimeMs || kept.size !== size) return undefined;
    if (kept.info) return { ...kept, info: checked({ name: kept.info.name, path }, kept.info) };
    return now().getTime() - Date.parse(kept.time) < FAILURE_COUNTS_MS ? kept : undefined;
  } catch {
    return undefined;
  }
}

function keep(kept: Kept): void {
  try {
    writeJson(fileFor(kept.path), kept);
  } catch {
    // Without a cache entry, the next call asks again.
  }
}
