/**
 * Forks a conversation under a new session id, as the profile describes it: the transcript is cut, ids, directory and
 * title are replaced, and the files that the agent needs besides are written from the profile's templates.
 */
import { dirname, extname, join, parse, sep } from "node:path";
import { now } from "../../base/clock.ts";
import { isInside } from "../../base/paths.ts";
import { asBuffer, completeLines, parseLine } from "../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../contract/agent.ts";
import type { Profile, TranscriptSection } from "../contract/profile.ts";
import { textAt } from "../registry/paths.ts";
import { transcriptDirectories } from "../registry/transcript-paths.ts";
import { addedId, demandId, forkTitle, titlePrefix } from "../shared/fork.ts";
import { importCommand, resumeCommand } from "../shared/resume.ts";
import { cutDocument, cutLines, type Renewal } from "./copy.ts";
import { filled, type Values } from "./fill.ts";
import { fileIn, isSessionId, placeOf } from "./place.ts";
import { type Description, entryReader } from "./transcript.ts";

export function createForker(profile: Profile, description: Description): TranscriptForker {
  return {
    fork: (request) => fork(request, profile, description),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, profile: Profile, description: Description): ForkResult {
  const { transcript } = profile;
  if (!transcript) throw new Error("The profile describes no transcript.");
  const sessionId = newId(request, transcript);
  for (const id of [request.newSessionId, sessionId]) demandId(id, /^[A-Za-z0-9_-]{1,100}$/, "session");
  const bytes = asBuffer(request.bytes);
  const isDocument = description.lines.list !== undefined;
  const oldId = ownSessionId(bytes, description) ?? parse(request.transcriptPath).name;
  const transcriptPath = newPath(request, profile, transcript, oldId, sessionId);
  const time = now();
  const values: Values = {
    session: sessionId,
    root: request.projectRoot,
    directory: dirname(transcriptPath),
    transcript: transcriptPath,
    title: forkTitle(request, titlePrefix(profile)),
    time: time.toISOString(),
    millis: time.getTime(),
    model: lastModel(bytes, description),
    text: request.account ?? null,
    id: request.account ? addedId(request, request.account) : null,
  };
  const renewal: Renewal = {
    oldId,
    sessionId,
    root: request.projectRoot,
    title: String(values["title"]),
    place: (pattern) => placeOf(pattern, transcript, request.projectRoot, sessionId),
    notice: request.account && transcript.notice !== undefined ? { template: transcript.notice, values } : null,
  };
  const content = (isDocument ? cutDocument : cutLines)(bytes, request.lastId, description, renewal);
  const { steps: imports } = importCommand(profile, transcriptPath);
  const result: ForkResult = { sessionId, transcriptPath, content, told: renewal.notice !== null };
  if (imports.length > 0)
    result.command = { cwd: null, steps: [...imports, ...resumeCommand(profile, sessionId).steps] };
  if (content.length > 0) result.files = filesFor(request, profile, transcript, values);
  return result;
}

function lastModel(bytes: Buffer, description: Description): string | null {
  let model: string | null = null;
  for (const entry of entryReader(description)(bytes)) {
    for (const item of entry.items) if (item.kind === "model") model = item.model;
  }
  return model;
}

/** A continued session keeps its id; another one has the form that the agent gives its own. */
function newId({ newSessionId, continued }: ForkRequest, { new_id: form }: TranscriptSection): string {
  if (continued || form === undefined) return newSessionId;
  // Derived from the given id, so that a repeated plan names the same session.
  const digits = newSessionId.replaceAll("-", "");
  return form.replace("{uuid}", newSessionId).replace("{millis_random}", `${now().getTime()}_${digits.slice(0, 5)}`);
}

function ownSessionId(bytes: Buffer, { lines }: Description): string | null {
  if (!lines.session_id) return null;
  if (lines.list !== undefined) {
    return textAt(parseLine(bytes, { start: 0, end: bytes.length }), lines.session_id) ?? null;
  }
  for (const at of completeLines(bytes)) {
    const id = textAt(parseLine(bytes, at), lines.session_id);
    if (id !== null) return id;
  }
  return null;
}

/** By the pattern, in the directory that has the original; without a pattern, beside the original. */
function newPath(
  request: ForkRequest,
  profile: Profile,
  transcript: TranscriptSection,
  oldId: string,
  sessionId: string,
): string {
  if (transcript.place === undefined || !isSessionId(sessionId))
    return besideIt(request.transcriptPath, oldId, sessionId);
  return fileOf(transcript.place, request, profile, transcript, sessionId);
}

function fileOf(
  pattern: string,
  request: ForkRequest,
  profile: Profile,
  transcript: TranscriptSection,
  sessionId: string,
): string {
  const directory = directoryOf(request, profile, transcript);
  const path = fileIn(directory, pattern, transcript, request.projectRoot, sessionId);
  if (path === null) throw new Error(`${pattern} leads out of ${directory}`);
  return path;
}

/** The transcript directory that has the original, which a variable may have moved since. */
function directoryOf({ transcriptPath }: ForkRequest, profile: Profile, { place = "" }: TranscriptSection): string {
  const directories = transcriptDirectories(profile);
  const known = directories.find((each) => isInside(each, transcriptPath));
  if (known !== undefined) return known;
  const names = transcriptPath.split(sep).slice(0, -place.split("/").length);
  return names.length > 1 ? names.join(sep) : (directories[0] ?? dirname(transcriptPath));
}

/** Replaces the old id with the new one in the names of the file and its directory. */
function besideIt(path: string, oldId: string, sessionId: string): string {
  const names = path.split(sep);
  const at = names.findLastIndex((name) => name.includes(oldId));
  const isNamed = oldId !== "" && at >= names.length - 2 && at > 0;
  if (!isNamed) return join(dirname(path), `${sessionId}${extname(path)}`);
  return names.map((name, i) => (i >= names.length - 2 ? name.replaceAll(oldId, sessionId) : name)).join(sep);
}

function filesFor(request: ForkRequest, profile: Profile, transcript: TranscriptSection, values: Values) {
  const { files } = transcript;
  if (!files) return [];
  return files.map(({ path, json }) => {
    const place = fileOf(path, request, profile, transcript, String(values["session"]));
    const own = { ...values, folder: dirname(place) };
    return { path: place, content: Buffer.from(`${JSON.stringify(filled(json, own), null, 2)}\n`) };
  });
}
