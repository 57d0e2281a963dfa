/**
 * Implements `agents new <id> --from <recording>`: proposes a profile from a recording, and says what it is
 * unsure of. Prints nothing.
 */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory, writeFileAtomic } from "../../../base/fs/files.ts";
import { asBuffer } from "../../../transcripts/lines.ts";
import type { HooksSection, Profile } from "../../contract/profile.ts";
import { describedAgent } from "../../generic/agent.ts";
import { entryReader } from "../../generic/transcript.ts";
import { textAt, valueAt } from "../../registry/paths.ts";
import { type Recording, readRecording } from "../capture/format.ts";
import { claimProfilePath, identity } from "../scaffold.ts";
import type { Doubt } from "./doubts.ts";
import { proposeEvents, proposeTools } from "./events.ts";
import { proposeFields, type Sent } from "./fields.ts";
import { proposeTranscript, type TranscriptProposal } from "./transcript.ts";
import { isText, proseOf } from "./walk.ts";

interface Proposal {
  profile: Profile;
  doubts: Doubt[];
  /** The recorded file that the description of transcripts was made from. */
  transcript: string | null;
}

function proposeProfile(id: string, recording: Recording): Proposal {
  const { payloads, hooks } = recording;
  const events = proposeEvents(payloads);
  const sent: Sent[] = payloads.map((payload, index) => ({ ...payload, type: events.meanings[index] ?? null }));
  const files = recording.transcripts.flatMap(({ path }) => path ?? []);
  const doubts: Doubt[] = payloads.length > 0 ? [...events.doubts] : [{ kind: "no-hooks", key: "hooks" }];
  // Tools tell which fields are files, and fields tell the tools: the names come first.
  const names = proposeFields(sent, { files, cwd: recording.cwd, tools: {} });
  const uses = sent.flatMap(({ raw }) => {
    const name = textAt(raw, names.tool_name);
    return name === null ? [] : [{ name, input: names.tool_input?.map((path) => valueAt(raw, path)).find(Boolean) }];
  });
  const known = knownOf(sent, names, recording);
  const found = conversationIn(proposeTranscript(id, recording.transcripts, known), recording, known.prompts);
  const { tools, doubts: aboutTools } = proposeTools([...uses, ...(found?.uses ?? [])]);
  const fields = proposeFields(sent, { files, cwd: recording.cwd, tools });
  doubts.push(...aboutTools, ...(found?.doubts ?? [{ kind: "no-transcript", key: "transcript" } as const]));
  for (const field of ["session_id", "cwd"] as const) {
    if (payloads.length > 0 && !fields[field]) doubts.push({ kind: "not-found", key: `hooks.fields.${field}` });
  }
  const isPromptKnown = fields.prompt !== undefined || found !== undefined;
  if (payloads.length > 0 && !isPromptKnown) doubts.push({ kind: "not-found", key: "hooks.fields.prompt" });
  if (!hooks && payloads.length > 0) doubts.push({ kind: "hooks-by-hand", key: "hooks.settings" });
  const profile = profileOf(
    id,
    recording,
    {
      settings: settingsOf(recording),
      install: events.install,
      fields: { ...(events.field ? { event: [events.field] } : {}), ...fields },
      events: events.events,
      tools,
    },
    found,
  );
  doubts.push({ kind: "guess", key: "executable", value: profile.executable ?? id });
  doubts.push({ kind: "guess", key: "resume", value: (profile.resume ?? []).join(" ") });
  if (profile.transcript?.fork) doubts.push({ kind: "fork-untried", key: "transcript.fork" });
  const inFile = found && knownOf(sent.filter(isOfFile(found.file, fields, recording)), fields, recording).prompts;
  doubts.push(...promptDoubts(profile, recording, found, inFile ?? []));
  return { profile, doubts, transcript: found?.file ?? null };
}

/** A file in which none of the prompts is read, such as a cache, is not the conversation. */
function conversationIn(
  found: TranscriptProposal | undefined,
  { transcripts }: Recording,
  prompts: readonly string[],
): TranscriptProposal | undefined {
  const file = transcripts.find((each) => each.file === found?.file);
  const lines = found?.transcript.lines;
  if (!found || !file || !lines || prompts.length === 0) return found;
  const read = entryReader({ lines, tools: {} })(asBuffer(file.bytes));
  for (const { items } of read) {
    if (items.some((item) => item.kind === "prompt" && prompts.includes(item.text.trim()))) return found;
  }
  return undefined;
}

/** What hooks sent, to be found again in the transcript. */
function knownOf(sent: readonly Sent[], fields: HooksSection["fields"], recording: Recording) {
  const texts = (paths: readonly string[] | undefined) => [
    ...new Set(sent.flatMap(({ raw }) => (paths ?? []).map((path) => proseOf(valueAt(raw, path))).filter(isText))),
  ];
  const starts = sent.filter(({ type }) => type === "TurnStart");
  const prompts = starts.flatMap(({ raw }) => (fields.prompt ?? []).map((path) => proseOf(valueAt(raw, path))));
  return {
    home: recording.home,
    cwd: recording.cwd ?? texts(fields.cwd)[0] ?? null,
    sessions: texts(fields.session_id),
    prompts: [...new Set(prompts.filter(isText))],
    answers: texts(fields.response),
    model: texts(fields.model)[0] ?? null,
    named: texts(fields.transcript_path),
  };
}

/** Whether a payload is of the session that a recorded file holds, as far as that is known. */
function isOfFile(name: string, { transcript_path, session_id }: HooksSection["fields"], recording: Recording) {
  const path = recording.transcripts.find(({ file }) => file === name)?.path ?? null;
  return ({ raw }: Sent): boolean => {
    const named = textAt(raw, transcript_path);
    const session = textAt(raw, session_id);
    if (path === null) return true;
    if (named !== null) return named === path;
    return session === null || path.includes(session) || !/\d{4}/.test(path);
  };
}

/** Where the recording hooks were. Without them, the user installs hooks by hand; an agent that called none has none. */
function settingsOf({ hooks, payloads }: Recording): HooksSection["settings"] {
  if (payloads.length === 0) return {};
  if (!hooks) return { user: { format: "none" } };
  const { scope, path, format, names } = hooks;
  return { [scope]: format === "toml-hooks" && names ? { path, format, names } : { path, format } };
}

/** Directories of the home directory that belong to no agent. */
const SHARED = new Set([".local", ".config", ".cache"]);

function profileOf(
  id: string,
  recording: Recording,
  hooks: HooksSection,
  found: TranscriptProposal | undefined,
): Profile {
  const variables = environmentOf(recording, hooks);
  const directory = found?.transcript.directory.split("/")[0];
  const folder = directory && /^\../.test(directory) && !SHARED.has(directory) ? directory : `.${id}`;
  return {
    ...identity(id),
    detection: detectionOf(id, folder, recording, hooks),
    ...(variables ? { env: variables } : {}),
    hooks,
    ...(found ? { transcript: found.transcript } : {}),
    protected_dirs: [folder],
    resume: [id, "--resume", "{session}"],
    tested_versions: [],
  };
}

/** A field that identifies the agent, or the directory of its transcripts; and a variable with its name. */
function detectionOf(
  id: string,
  folder: string,
  { payloads }: Recording,
  { fields }: HooksSection,
): Profile["detection"] {
  const pattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const rules: Profile["detection"]["score_rules"] = [];
  const [path] = fields.transcript_path ?? [];
  if (path) rules.push({ score: 60, path_matches: { path, regex: `[/\\\\]${pattern(folder)}[/\\\\]` } });
  const [first] = payloads;
  const words = id.split("-");
  const common = new Set(Object.values(fields).flat());
  const telling = Object.entries(first?.raw ?? {}).find(
    ([key, value]) =>
      /^[A-Za-z0-9_-]+$/.test(key) &&
      // What every agent sends, such as a directory with the agent's name in it, tells nothing.
      !common.has(`$.${key}`) &&
      words.some(
        (word) =>
          word.length > 2 &&
          `${key} ${typeof value === "string" && value.length < 40 ? value : ""}`.toLowerCase().includes(word),
      ) &&
      payloads.every(({ raw }) => Object.hasOwn(raw, key)),
  );
  if (telling) rules.push({ score: 60, path_exists: `$.${telling[0]}` });
  const names = Object.keys(first?.env ?? {}).filter((name) =>
    words.some((word) => name.toLowerCase().startsWith(word)),
  );
  const variable = names.find((name) => payloads.every(({ env }) => Object.hasOwn(env, name)));
  if (variable) rules.push({ score: 50, env_exists: variable });
  rules.push({ score: 10, dir_exists: folder });
  return { min_score: 50, score_rules: rules };
}

/** Variables that had the same value as a field. */
function environmentOf({ payloads }: Recording, { fields }: HooksSection): Profile["env"] {
  const names = (paths: readonly string[] | undefined) =>
    [...new Set(payloads.flatMap(({ env }) => Object.keys(env)))].filter((name) =>
      payloads.some(({ env }) => typeof env[name] === "string" && paths?.includes(env[name])),
    );
  const [project, session] = [names(fields.cwd), names(fields.session_id)];
  if (project.length + session.length === 0) return undefined;
  return {
    ...(project.length > 0 ? { project_dir: project } : {}),
    ...(session.length > 0 ? { session_id: session } : {}),
  };
}

/** Reads the transcript with the proposed profile: it must give the prompts that hooks sent. */
function promptDoubts(
  profile: Profile,
  { transcripts }: Recording,
  found: TranscriptProposal | undefined,
  prompts: readonly string[],
): Doubt[] {
  const file = transcripts.find((each) => each.file === found?.file);
  if (!file || prompts.length === 0) return [];
  const read = describedAgent(profile).analyzer?.readSlice(file.bytes, 0).prompts ?? [];
  const missing = prompts.filter((prompt) => !read.some((text) => text.trim() === prompt.trim())).length;
  const more = Math.max(0, read.length - (prompts.length - missing));
  return missing + more > 0 ? [{ kind: "prompts-differ", key: "transcript.lines.rules", missing, more }] : [];
}

export interface Proposed extends Proposal {
  file: string;
  /** The directory with the copies of the recording. */
  fixtures: string;
}

/** Writes the proposed profile and its recording to where `agents check` reads them. */
export function writeProposal(id: string, from: string, options: { force?: boolean } = {}): Proposed {
  const { file, directory } = claimProfilePath(id, options.force === true);
  const proposal = proposeProfile(id, readRecording(from));
  const fixtures = join(directory, id);
  for (const [folder, ending] of [
    ["payloads", ".json"],
    ["transcripts", ""],
  ] as const) {
    rmSync(join(fixtures, folder), { recursive: true, force: true });
    makeDirectory(join(fixtures, folder));
    for (const name of recordedNames(from, folder, ending, proposal)) {
      copyFileSync(join(from, folder, name), join(fixtures, folder, name));
    }
  }
  for (const name of ["recording.json", "calls.jsonl"]) {
    rmSync(join(fixtures, name), { force: true });
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(fixtures, name));
  }
  writeFileAtomic(file, `${JSON.stringify(proposal.profile, null, 2)}\n`);
  return { ...proposal, file, fixtures };
}

/** Of the files that grew, only those of the conversation's kind prove anything. */
function recordedNames(from: string, folder: string, ending: string, { transcript }: Proposal): string[] {
  const { payloads, transcripts } = readRecording(from);
  if (folder === "payloads") return payloads.map(({ file }) => file).filter((file) => file.endsWith(ending));
  return transcripts.map(({ file }) => file).filter((file) => file === transcript);
}
