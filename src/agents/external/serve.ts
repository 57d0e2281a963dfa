/**
 * Serves the external-agent protocol from the agent's side: takes a subcommand, its flags and its input, and returns
 * what to print. A request that can't be answered throws a UserError, which the caller prints before it fails.
 */
import { UserError } from "../../base/errors.ts";
import { isCommandWord } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { createWorkspace, findWorkspace } from "../../git/workspace.ts";
import { shellText } from "../../model/command.ts";
import type { Agent } from "../contract/agent.ts";
import type { Program } from "../hooks/command.ts";
import { type Inspection, type InstallOptions, inspectAll, install, uninstall } from "../hooks/install.ts";
import { contextOf, toEnvelope, toEvent } from "../registry/normalize.ts";
import { capabilitiesOf } from "../registry/registry.ts";
import { resumeCommand } from "../shared/resume.ts";
import { type CapabilityName, type Info, numberOf, PROTOCOL_VERSION } from "./protocol.ts";
import { readSession, resolveSessionFile, sessionDirectory, sessionIdOf, writeSession } from "./serve-session.ts";
import {
  allFiles,
  chunksOf,
  modifiedFiles,
  positionOf,
  promptsIn,
  reassembled,
  summaryOf,
  tokensFrom,
  totalTokens,
  transcriptAt,
} from "./serve-transcript.ts";

export interface Call {
  agent: Agent;
  flags: ReadonlyMap<string, string | true>;
  /** Reads standard input on demand. */
  input(): Promise<Buffer>;
  /** The repository that the host works in. */
  root: string;
  /** The absolute path that hooks call. */
  executable(): string;
  /** The program that the hooks call; undefined for Backtrail itself. */
  host: Program | undefined;
  /** Whether the agent appears to be in use here. */
  isPresent(): Promise<boolean>;
}

/** Bytes are printed unchanged, undefined prints nothing, and any other value is printed as JSON. */
export type Answer = unknown;

interface Subcommand {
  needs?: CapabilityName;
  answer(call: Call): Answer | Promise<Answer>;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  info: { answer: ({ agent }) => infoOf(agent) },
  detect: { answer: async (call) => ({ present: await call.isPresent() }) },
  "get-session-id": { answer: async (call) => ({ session_id: sessionIdOf(call.agent, await json(call)) }) },
  "get-session-dir": {
    answer: (call) => ({ session_dir: sessionDirectory(call.agent, flag(call, "repo-path")) }),
  },
  "resolve-session-file": {
    answer: (call) => ({
      session_file: resolveSessionFile(call.agent, flag(call, "session-dir"), flag(call, "session-id")),
    }),
  },
  "read-session": { answer: async (call) => readSession(call.agent, await json(call), call.root) },
  "write-session": { answer: async (call) => writeSession(call.agent, await json(call), call.root) },
  "read-transcript": { answer: (call) => transcriptAt(call.root, flag(call, "session-ref"), true) },
  "chunk-transcript": {
    answer: async (call) => ({
      chunks: chunksOf(atLeast(1, number(call, "max-size"), "max-size"), await call.input()),
    }),
  },
  "reassemble-transcript": { answer: async (call) => reassembled(await json(call)) },
  "format-resume-command": {
    answer: (call) => ({ command: resumeOf(call.agent, flag(call, "session-id")) }),
  },
  "parse-hook": { needs: "hooks", answer: parseHook },
  "install-hooks": { needs: "hooks", answer: installHooks },
  "uninstall-hooks": { needs: "hooks", answer: uninstallHooks },
  "are-hooks-installed": { needs: "hooks", answer: areHooksInstalled },
  "get-transcript-position": {
    needs: "transcript_analyzer",
    answer: (call) => ({ position: positionOf(transcriptAt(call.root, flag(call, "path"))) }),
  },
  "extract-modified-files": {
    needs: "transcript_analyzer",
    answer: (call) => modifiedFiles(call.agent, transcriptAt(call.root, flag(call, "path")), offset(call)),
  },
  "extract-prompts": {
    needs: "transcript_analyzer",
    answer: (call) => promptsIn(call.agent, transcriptAt(call.root, flag(call, "session-ref")), offset(call)),
  },
  "extract-summary": {
    needs: "transcript_analyzer",
    answer: (call) => summaryOf(call.agent, transcriptAt(call.root, flag(call, "session-ref"))),
  },
  "prepare-transcript": { needs: "transcript_preparer", answer: prepareTranscript },
  "calculate-tokens": {
    needs: "token_calculator",
    answer: async (call) => tokensFrom(call.agent, await call.input(), offset(call)),
  },
  "write-hook-response": { needs: "hook_response_writer", answer: hookResponse },
  "extract-all-modified-files": {
    needs: "subagent_aware_extractor",
    answer: async (call) => allFiles(call.agent, await call.input(), offset(call), flag(call, "subagents-dir")),
  },
  "calculate-total-tokens": {
    needs: "subagent_aware_extractor",
    answer: async (call) => totalTokens(call.agent, await call.input(), offset(call), flag(call, "subagents-dir")),
  },
};

export async function serve(name: string | undefined, call: Call): Promise<Answer> {
  if (name === undefined)
    throw new UserError("usage", `A subcommand is missing: ${Object.keys(SUBCOMMANDS).join(", ")}.`);
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) throw new UserError("usage", `There is no subcommand "${shorten(oneLine(name), 60)}".`);
  if (subcommand.needs && !infoOf(call.agent).capabilities[subcommand.needs]) {
    throw new UserError("usage", `${call.agent.profile.display_name} does not offer ${subcommand.needs}.`);
  }
  return subcommand.answer(call);
}

function infoOf(agent: Agent): Info {
  const { profile, analyzer } = agent;
  const { hooks, chat } = capabilitiesOf(agent);
  const events = Object.values(profile.hooks?.events ?? {});
  return {
    protocol_version: PROTOCOL_VERSION,
    name: profile.id,
    type: profile.display_name,
    description: profile.description ?? profile.display_name,
    is_preview: profile.preview === true,
    protected_dirs: profile.protected_dirs,
    hook_names: [...new Set(Object.values(profile.hooks?.install ?? {}).map(({ verb }) => verb))],
    capabilities: {
      hooks,
      transcript_analyzer: chat,
      transcript_preparer: agent.preparer !== undefined,
      token_calculator: analyzer !== undefined && analyzer.countsTokens !== false,
      text_generator: false,
      hook_response_writer: agent.responder !== undefined,
      subagent_aware_extractor: analyzer !== undefined && events.includes("SubagentEnd"),
    },
  };
}

async function parseHook(call: Call): Promise<Answer> {
  const verb = flag(call, "hook");
  const text = (await call.input()).toString("utf8").trim();
  if (text === "") return null;
  const { profile } = call.agent;
  const envelope = toEnvelope(profile, verb, objectIn(text));
  const context = contextOf(profile, envelope, { env: process.env, cwd: call.root });
  const event = toEvent(call.agent, envelope, context);
  const type = event && numberOf(event.type);
  if (!event || type === null) return null;
  const { subagent } = event;
  return {
    type,
    session_id: event.sessionId,
    previous_session_id: event.previousSessionId ?? undefined,
    session_ref: event.transcriptPath ?? undefined,
    prompt: event.prompt ?? undefined,
    model: event.model ?? undefined,
    timestamp: event.timestamp,
    tool_use_id: subagent?.toolUseId ?? event.tool?.id ?? undefined,
    subagent_id: subagent?.id,
    subagent_type: subagent?.type ?? undefined,
    task_description: subagent?.description ?? undefined,
    tool_input: isRecord(envelope.toolInput) ? envelope.toolInput : undefined,
    metadata: Object.keys(event.metadata).length > 0 ? event.metadata : undefined,
  };
}

async function installHooks(call: Call): Promise<Answer> {
  const { agent } = call;
  const options = await installOptions(call);
  if (call.flags.has("force")) await uninstallHooks(call);
  const report = await install(agent, "local", options);
  const hooks = Object.keys(agent.profile.hooks?.install ?? {}).length;
  return { hooks_installed: report.files[0]?.action === "unchanged" ? 0 : hooks };
}

async function uninstallHooks(call: Call): Promise<undefined> {
  const options = await installOptions(call);
  const found = inspectAll(call.agent, options);
  for (const { scope, state } of found) {
    if (state !== "absent") await uninstall(call.agent, scope, options);
  }
  requireKnown(found);
  return undefined;
}

async function areHooksInstalled(call: Call): Promise<Answer> {
  const found = inspectAll(call.agent, await installOptions(call));
  const installed = found.some(({ state }) => state === "installed");
  if (!installed) requireKnown(found);
  return { installed };
}

/** An unreadable file may contain our hooks, so report a failure instead of "not installed". */
function requireKnown(found: readonly Inspection[]): void {
  const problem = found.find((one) => one.problem !== undefined)?.problem;
  if (problem !== undefined) throw new UserError("failed", problem);
}

async function installOptions({ root, executable, host }: Call): Promise<InstallOptions> {
  const workspace = findWorkspace(root) ?? (await createWorkspace(root));
  return { workspace, executable: executable(), ...(host === undefined ? {} : { host }) };
}

/** The host does not name the turn, so wait for the end of the last one. */
async function prepareTranscript(call: Call): Promise<undefined> {
  const path = flag(call, "session-ref");
  const { profile, preparer } = call.agent;
  if (transcriptAt(call.root, path) === null) return undefined;
  const envelope = toEnvelope(profile, "stop", {});
  const context = contextOf(profile, envelope, { env: {}, cwd: call.root });
  await preparer?.waitForTurn(
    {
      type: "TurnEnd",
      sessionId: context.sessionId ?? "unknown",
      previousSessionId: null,
      transcriptPath: path,
      prompt: null,
      timestamp: new Date(0).toISOString(),
      model: null,
      tool: null,
      subagent: null,
      response: null,
      metadata: {},
    },
    path,
    0,
  );
  return undefined;
}

function hookResponse(call: Call): Answer {
  const { profile, responder } = call.agent;
  const starts = Object.entries(profile.hooks?.events ?? {}).find(([, type]) => type === "SessionStart")?.[0];
  const envelope = toEnvelope(profile, starts ?? "session-start", {});
  return Buffer.from(responder?.notice(envelope, flag(call, "message")) ?? "");
}

function resumeOf({ profile, forker }: Agent, sessionId: string): string {
  if (!isCommandWord(sessionId)) {
    throw new UserError("usage", `"${shorten(oneLine(sessionId), 60)}" can't be the id of a session.`);
  }
  const own = forker?.resumeCommand(sessionId);
  return shellText(own && own.steps.length > 0 ? own : resumeCommand(profile, sessionId));
}

function flag({ flags }: Call, name: string): string {
  const value = flags.get(name);
  if (typeof value === "string" && value !== "") return value;
  throw new UserError("usage", `--${name} is missing.`);
}

function number(call: Call, name: string): number {
  const text = flag(call, name);
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new UserError("usage", `--${name} is not a whole number: "${shorten(oneLine(text), 40)}".`);
}

function atLeast(least: number, value: number, name: string): number {
  if (value >= least) return value;
  throw new UserError("usage", `--${name} must be at least ${least}.`);
}

function offset(call: Call): number {
  return atLeast(0, number(call, "offset"), "offset");
}

async function json(call: Call): Promise<Record<string, unknown>> {
  return objectIn((await call.input()).toString("utf8"));
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError("usage", "Standard input is not valid JSON.");
  }
  if (isRecord(value)) return value;
  throw new UserError("usage", "Standard input does not contain a JSON object.");
}
