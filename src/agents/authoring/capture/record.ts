/**
 * Makes a recording: starts it, looks which files grow, and ends it by copying what the agent wrote. Prints nothing.
 * `active.json` says that a recording is under way; whoever removes it ends the recording.
 */
import { renameSync, rmSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { now } from "../../../base/clock.ts";
import { codeOf, UserError } from "../../../base/errors.ts";
import { makeDirectory, readJson, removeFile, writeFileAtomic, writeJson } from "../../../base/fs/files.ts";
import { isInside } from "../../../base/paths.ts";
import { asBuffer, endOfLines } from "../../../transcripts/lines.ts";
import { PlaceholderTable } from "../../../transcripts/redact/placeholders.ts";
import { createRedactor } from "../../../transcripts/redact/redactor.ts";
import { isAgentId } from "../../contract/profile.ts";
import { type ActiveRecording, activeFile, activeRecording } from "./capture.ts";
import {
  MAX_TRANSCRIPT_BYTES,
  MAX_TRANSCRIPTS,
  type RecordedFile,
  type RecordingFile,
  readRecording,
  recordingsDirectory,
} from "./format.ts";
import { changed, likelyDirectories, readIfSmall, type Sizes, sizesIn } from "./growth.ts";
import { type HookRequest, installRecordingHooks, removeRecordingHooks } from "./hooks.ts";

export interface RecordRequest {
  id: string;
  home: string;
  cwd: string;
  /** Directories to look in besides the usual ones. */
  watched: readonly string[];
  hooks: HookRequest | null;
  executable: string;
}

/** A recording under way. */
export interface Started {
  directory: string;
  /** Looks once; returns the files that changed since the last look. */
  look(): string[];
  /** False once the recording has been ended. */
  isActive(): boolean;
}

/** What looking needs, kept on disk so that another process can end the recording. */
interface WatchState {
  watched: string[];
  before: [path: string, size: number, mtimeMs: number][];
  changes: Record<string, number>;
}

export async function startRecording(request: RecordRequest): Promise<Started> {
  const { id, home, cwd, watched, executable } = request;
  if (!isAgentId(id) || id === "git" || id === "record") {
    throw new UserError("usage", `"${id}" can't be an agent's id.`, "Use small letters, digits and hyphens: my-agent");
  }
  if (activeRecording(id)) {
    throw new UserError(
      "refused",
      `${id} is being recorded already.`,
      `End that recording with: backtrail agents record ${id} --stop`,
    );
  }
  const started = now();
  const directory = join(recordingsDirectory(id), started.toISOString().replace(/[-:]|\.\d+/g, ""));
  makeDirectory(join(directory, "payloads"));
  makeDirectory(join(directory, "transcripts"));
  const hooks = request.hooks && (await installRecordingHooks(request.hooks, { id, home, cwd, executable, directory }));
  // After the hooks are in place, so that their file does not count as one that the agent writes.
  const before = sizesIn(likelyDirectories(home, cwd, watched));
  writeState(directory, { watched: [...watched], before: listed(before), changes: {} });
  const about: RecordingFile = {
    v: 1,
    agent: id,
    started: started.toISOString(),
    ended: null,
    home,
    cwd,
    hooks,
    transcripts: [],
  };
  writeFileAtomic(join(directory, "recording.json"), `${JSON.stringify(about, null, 2)}\n`);
  const active: ActiveRecording = { directory, environment: Object.keys(process.env) };
  writeJson(activeFile(id), active);
  return lookingAt(id, directory, { home, cwd, watched }, before);
}

function lookingAt(
  id: string,
  directory: string,
  { home, cwd, watched }: Pick<RecordRequest, "home" | "cwd" | "watched">,
  before: Sizes,
): Started {
  let last = before;
  const changes: Record<string, number> = {};
  return {
    directory,
    isActive: () => activeRecording(id)?.directory === directory,
    look() {
      const current = sizesIn(likelyDirectories(home, cwd, watched));
      const found = changed(last, current);
      last = current;
      for (const path of found) changes[path] = (changes[path] ?? 0) + 1;
      if (found.length > 0 && activeRecording(id)?.directory === directory) {
        writeState(directory, { watched: [...watched], before: listed(before), changes });
      }
      return found;
    },
  };
}

/** Ends the recording: copies the files that changed and removes the hooks. Null if there is none to end. */
export async function endRecording(id: string): Promise<string | null> {
  const active = isAgentId(id) ? activeRecording(id) : undefined;
  if (!active || !take(activeFile(id))) return null;
  const { directory } = active;
  const about = readJson(join(directory, "recording.json")) as RecordingFile;
  const state = readJson(stateFile(directory)) as WatchState;
  const before: Sizes = new Map(state.before.map(([path, size, mtimeMs]) => [path, { size, mtimeMs }]));
  const after = sizesIn(likelyDirectories(about.home, about.cwd, state.watched));
  const settings = about.hooks && join(about.hooks.scope === "user" ? about.home : about.cwd, about.hooks.path);
  const found = [...new Set([...changed(before, after), ...namedIn(directory, about)])].filter(
    (path) => path !== settings,
  );
  about.transcripts = await copies(directory, found, state.changes);
  about.ended = now().toISOString();
  if (about.hooks) await removeRecordingHooks(about.hooks, { id, home: about.home, cwd: about.cwd, directory });
  writeFileAtomic(join(directory, "recording.json"), `${JSON.stringify(about, null, 2)}\n`);
  removeFile(stateFile(directory));
  return directory;
}

/** Only one process can rename the file. */
function take(path: string): boolean {
  const taken = `${path}.${process.pid}`;
  try {
    renameSync(path, taken);
    rmSync(taken, { force: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Files in the home directory that payloads name, such as the transcript's. */
function namedIn(directory: string, { home }: RecordingFile): string[] {
  const texts = readRecording(directory).payloads.flatMap(({ raw }) => Object.values(raw));
  const paths = texts.filter((text): text is string => typeof text === "string" && text.length < 4096);
  return [...new Set(paths)].filter(
    (path) =>
      /\.jsonl?$/.test(path) && isInside(home, path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** Copies the files, redacted: those that changed most often first. */
async function copies(
  directory: string,
  paths: readonly string[],
  changes: Readonly<Record<string, number>>,
): Promise<RecordedFile[]> {
  const redactor = await createRedactor();
  const placeholders = new PlaceholderTable();
  const count = (path: string) => changes[path] ?? 0;
  const lines = (path: string) => Number(path.endsWith(".jsonl"));
  const ordered = [...paths].sort((a, b) => lines(b) - lines(a) || count(b) - count(a) || (a < b ? -1 : 1));
  const made: RecordedFile[] = [];
  for (const path of ordered) {
    if (made.length >= MAX_TRANSCRIPTS) break;
    const bytes = readIfSmall(path, MAX_TRANSCRIPT_BYTES);
    if (bytes === undefined) continue;
    const isLines = path.endsWith(".jsonl");
    const whole = isLines ? bytes.subarray(0, endOfLines(asBuffer(bytes))) : bytes;
    const redacted = redactor.redact(whole, { format: isLines ? "jsonl" : "json", placeholders }).bytes;
    const file = freeName(path, made);
    writeFileAtomic(join(directory, "transcripts", file), redacted);
    made.push({ file, path, changes: count(path) });
  }
  return made;
}

function freeName(path: string, made: readonly RecordedFile[]): string {
  const ending = extname(path);
  const name = basename(path, ending).replace(/[^A-Za-z0-9._-]/g, "-");
  const isTaken = (file: string) => made.some((each) => each.file === file);
  if (!isTaken(`${name}${ending}`)) return `${name}${ending}`;
  return `${name}-${made.length + 1}${ending}`;
}

function stateFile(directory: string): string {
  return join(directory, "watch.json");
}

function writeState(directory: string, state: WatchState): void {
  writeJson(stateFile(directory), state);
}

function listed(sizes: Sizes): WatchState["before"] {
  return [...sizes].map(([path, { size, mtimeMs }]) => [path, size, mtimeMs]);
}
