/**
 * Wraps a program that speaks the external-agent protocol as an Agent. Every field of its answers is validated. If the
 * program fails to answer, the step is saved without that information.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import { findWorkspace } from "../../git/workspace.ts";
import type { TranscriptSlice } from "../../model/conversation.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef } from "../../model/event.ts";
import { NO_TOKENS, type Tokens } from "../../model/tokens.ts";
import { asBuffer, endOfLines, isOneDocument, isWholeDocument } from "../../transcripts/lines.ts";
import type { Agent, SelfInstaller, TranscriptAnalyzer } from "../contract/agent.ts";
import type { Profile } from "../contract/profile.ts";
import { localCommand } from "../hooks/command.ts";
import { absolutePath } from "../registry/profile-events.ts";
import { askProgram, callProgram } from "./call.ts";
import { infoFrom } from "./info.ts";
import { admitted, type ExternalProgram } from "./programs.ts";
import { eventTypeOf, type Info } from "./protocol.ts";

const MAX_ITEMS = 10_000;
const REPLY_LENGTH = 64 << 10;

/** Undefined if the user did not admit the program, or if it is unusable; the log then contains the reason. */
export function externalAgent(name: string, listed: readonly string[]): Agent | undefined {
  const program = admitted(name, listed);
  if (!program) return undefined;
  return attempt(`external/${name}`, () => agentFrom(program, infoFrom(program)), undefined);
}

export function agentFrom(program: ExternalProgram, info: Info): Agent {
  const { capabilities } = info;
  const where = `external/${program.name}`;
  // Default to the repository of the working directory.
  let root = rootOf(process.cwd());
  return {
    profile: profileOf(info),
    toEvent(envelope, context) {
      root = rootOf(context.projectRoot ?? context.cwd);
      return eventFrom(program, envelope, context, root);
    },
    ...(capabilities.hooks && { selfInstaller: selfInstaller(program) }),
    ...(capabilities.transcript_analyzer && { analyzer: analyzer(program, info, where, () => root) }),
    ...(capabilities.transcript_preparer && {
      preparer: {
        async waitForTurn(_event: Event, path: string) {
          attempt(
            where,
            () => callProgram(program, ["prepare-transcript", "--session-ref", path], { root }),
            undefined,
          );
        },
      },
    }),
    ...(capabilities.hook_response_writer && {
      responder: {
        notice(_envelope: HookEnvelope, message: string) {
          const args = ["write-hook-response", "--message", message];
          return attempt(where, () => callProgram(program, args, { root }).toString("utf8", 0, REPLY_LENGTH), "");
        },
      },
    }),
  };
}

/** The program parses payloads itself; the profile only maps the common names that locate a payload's session. */
function profileOf(info: Info): Profile {
  return {
    v: 2,
    id: info.name,
    display_name: info.type,
    ...(info.description && { description: info.description }),
    preview: info.is_preview,
    detection: { min_score: 100, score_rules: [] },
    ...(info.hook_names.length > 0 && {
      hooks: {
        settings: {},
        install: Object.fromEntries(info.hook_names.map((verb) => [verb, { verb }])),
        fields: {
          session_id: ["$.session_id", "$.conversation_id", "$.thread_id"],
          cwd: ["$.cwd", "$.workspace"],
          transcript_path: ["$.transcript_path"],
        },
        events: {},
        tools: {},
      },
    }),
    protected_dirs: info.protected_dirs,
    tested_versions: [],
  };
}

function eventFrom(
  program: ExternalProgram,
  envelope: HookEnvelope,
  context: AgentContext,
  root: string,
): Event | null {
  const input = JSON.stringify(envelope.raw);
  const known = (envelope.sessionId && context.metadata?.(envelope.sessionId)) || {};
  const env = { BACKTRAIL_SESSION_METADATA: JSON.stringify(known) };
  // The payload's event name becomes an argument of the program.
  if (!/^[A-Za-z0-9][\w.:-]{0,127}$/.test(envelope.event)) return null;
  const said = askProgram(program, ["parse-hook", "--hook", envelope.event], { root, input, env });
  if (!isRecord(said)) return null;
  const type = eventTypeOf(said["type"]);
  const sessionId = text(said["session_id"]);
  if (type === null || sessionId === null) return null;
  return {
    type,
    sessionId,
    previousSessionId: text(said["previous_session_id"]),
    transcriptPath: absolutePath(text(said["session_ref"]), root) ?? context.transcriptPath,
    prompt: type === "TurnStart" ? text(said["prompt"]) : null,
    timestamp: timeOf(said["timestamp"]),
    model: text(said["model"]),
    tool: null,
    subagent: type === "SubagentStart" || type === "SubagentEnd" ? subagentOf(said) : null,
    response: null,
    ...(text(said["response_message"]) ? { message: text(said["response_message"]) ?? "" } : {}),
    metadata: metadataOf(said["metadata"]),
  };
}

function subagentOf(said: Record<string, unknown>): SubagentRef | null {
  const toolUseId = text(said["tool_use_id"]);
  const id = text(said["subagent_id"]) ?? toolUseId;
  if (id === null) return null;
  const input = isRecord(said["tool_input"]) ? said["tool_input"] : {};
  return {
    id,
    type: text(said["subagent_type"]) ?? text(input["subagent_type"]),
    description: text(said["task_description"]) ?? text(input["description"]),
    prompt: text(input["prompt"]),
    transcriptPath: null,
    toolUseId,
  };
}

function metadataOf(value: unknown): Record<string, string> {
  const entries = Object.entries(isRecord(value) ? value : {}).slice(0, 50);
  return Object.fromEntries(entries.flatMap(([name, given]) => (typeof given === "string" ? [[name, given]] : [])));
}

function selfInstaller(program: ExternalProgram): SelfInstaller {
  return {
    program: program.path,
    install(root, executable) {
      // The program appends its own event name to this prefix.
      const command = localCommand(executable, program.name, "x").replace(/ x(?: \|\| :)?$/, "");
      const env = { BACKTRAIL_HOOK_COMMAND: command };
      return countIn(askProgram(program, ["install-hooks"], { root, env }), "hooks_installed");
    },
    uninstall(root) {
      callProgram(program, ["uninstall-hooks"], { root });
    },
    areInstalled(root) {
      const said = askProgram(program, ["are-hooks-installed"], { root });
      return isRecord(said) && said["installed"] === true;
    },
  };
}

/**
 * The program defines its own positions and ours are byte offsets, so the program receives each slice as a separate
 * file. The protocol does not report where a conversation can be cut.
 */
function analyzer(program: ExternalProgram, info: Info, where: string, root: () => string): TranscriptAnalyzer {
  const counts = info.capabilities.token_calculator === true;
  const nothing = { lastId: null, model: null, interrupted: false };
  const readSlice = (bytes: Uint8Array, offset: number): TranscriptSlice => {
    const isDocument = isOneDocument(asBuffer(bytes));
    const end = offset + (isDocument ? bytes.length : endOfLines(bytes));
    const empty = { ...nothing, end, prompts: [], files: [], tokens: { ...NO_TOKENS }, lastAnswer: null };
    if (end === offset) return empty;
    const place = attempt(where, () => mkdtempSync(join(tmpdir(), "backtrail-external-")), null);
    if (place === null) return empty;
    const path = join(place, "transcript.jsonl");
    const ask = (args: string[], input?: Uint8Array): Record<string, unknown> => {
      const options = { root: root(), ...(input && { input }) };
      const said = attempt(where, () => askProgram(program, args, options), null);
      return isRecord(said) ? said : {};
    };
    try {
      writeFileSync(path, bytes, { mode: 0o600 });
      const summary = text(ask(["extract-summary", "--session-ref", path])["summary"]);
      // The agent rewrites the document with every turn, so we can't tell which part belongs to this turn.
      if (isDocument) return { ...empty, lastAnswer: summary };
      return {
        ...empty,
        prompts: texts(ask(["extract-prompts", "--session-ref", path, "--offset", "0"])["prompts"]),
        files: texts(ask(["extract-modified-files", "--path", path, "--offset", "0"])["files"]),
        tokens: counts ? tokensIn(ask(["calculate-tokens", "--offset", "0"], bytes)) : { ...NO_TOKENS },
        lastAnswer: summary,
      };
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  };
  return {
    readSlice,
    isWhole: (bytes) => isWholeDocument(asBuffer(bytes)),
    read: (bytes) => ({ entries: [], title: null, model: null, tokens: readSlice(bytes, 0).tokens }),
    countsTokens: counts,
  };
}

function tokensIn(said: Record<string, unknown>): Tokens {
  return {
    input: countIn(said, "input_tokens"),
    output: countIn(said, "output_tokens"),
    cacheRead: countIn(said, "cache_read_tokens"),
    cacheWrite: countIn(said, "cache_creation_tokens"),
  };
}

function countIn(said: unknown, name: string): number {
  const value = isRecord(said) ? said[name] : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
  return list.filter((item): item is string => typeof item === "string" && item !== "" && !item.includes("\0"));
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function timeOf(value: unknown): string {
  const date = new Date(text(value) ?? Number.NaN);
  return (Number.isNaN(date.getTime()) ? now() : date).toISOString();
}

function rootOf(directory: string): string {
  return findWorkspace(directory)?.root ?? directory;
}

function attempt<T, U>(where: string, work: () => T, otherwise: U): T | U {
  try {
    return work();
  } catch (error) {
    logError(where, error);
    return otherwise;
  }
}
