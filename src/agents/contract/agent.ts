/**
 * The agent contract. Only the profile and `toEvent` are required. Every other member is an optional capability that
 * callers test for. Backtrail still records the code changes of an agent without any capability.
 */

import type { Edit } from "../../edit/edit.ts";
import type { UserCommand } from "../../model/command.ts";
import type { Conversation, TranscriptSlice } from "../../model/conversation.ts";
import type { AgentContext, Event, HookEnvelope } from "../../model/event.ts";
import type { Profile } from "./profile.ts";

export interface Agent {
  readonly profile: Profile;
  /** Maps a hook's payload to an event; null if the lifecycle ignores the hook. */
  toEvent(envelope: HookEnvelope, context: AgentContext): Event | null;

  readonly analyzer?: TranscriptAnalyzer;
  readonly preparer?: TranscriptPreparer;
  readonly forker?: TranscriptForker;
  readonly responder?: HookResponder;
  readonly hookFile?: HookFile;
  readonly watcher?: FileWatcher;
  readonly selfInstaller?: SelfInstaller;
  /** Loaded only to install or uninstall hooks. */
  readonly trust?: () => Promise<HookTrust>;
  /**
   * The commands of a tool use that the profile's `tools` and `tool_command` can't describe; null to use the profile.
   */
  readonly shellUse?: (toolName: string | null, input: unknown) => ShellUse | null;
  /**
   * For an agent that reports a prompt when it enters a queue: true if the transcript ends with a tool that is still
   * running. The prompt then belongs to that turn, or begins a new turn later.
   */
  readonly isUsingTool?: (transcriptPath: string) => boolean;
  /** Events report tokens (`tokensSoFar`), whether or not the transcript does. */
  readonly tellsTokens?: true;
  /** The session directory of a work tree, relative to the transcript directory; for agents with one per work tree. */
  readonly sessionFolder?: (projectRoot: string) => string;
  /**
   * A path for an imported transcript of a work tree, relative to the same directory. The file name does not matter.
   */
  readonly usualTranscript?: (projectRoot: string, time: Date) => string;
}

export interface ShellUse {
  commands: string[];
  /** The commands keep running after the tool returns. */
  inBackground: boolean;
}

/** Reads transcripts. Slices are read from an offset, so a turn costs only the transcript's new tail. */
export interface TranscriptAnalyzer {
  /**
   * `bytes` is the transcript from `offset` (the start of a line) on. Must not throw on torn or foreign lines. An agent
   * rewrites a document as a whole, so of a document only the entries after the entry `after` count.
   */
  readSlice(bytes: Uint8Array, offset: number, after?: string | null): TranscriptSlice;
  /** Reads the whole conversation, for `show` and the picker. */
  read(bytes: Uint8Array): Conversation;
  /** For an agent that may write one document instead of lines: true if the document is complete. */
  isWhole?(bytes: Uint8Array): boolean;
  /** False if the transcript does not report tokens. */
  readonly countsTokens?: boolean;
}

/** Waits, up to a limit, until the agent has written the end of its turn to the transcript. Never throws. */
interface TranscriptPreparer {
  /** `from` is the offset at which the turn began. */
  waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void>;
}

/** Cuts a conversation and turns it into a new session of the agent. */
export interface TranscriptForker {
  fork(request: ForkRequest): ForkResult;
  /** One file holds several branches, so the last entry marks the end of a conversation, not the file's length. */
  readonly branching?: boolean;
  /** The command that continues a session, for the user to run. */
  resumeCommand(sessionId: string): UserCommand;
}

export interface ForkRequest {
  /** The original transcript up to the step, in the agent's format, from our store. */
  bytes: Uint8Array;
  /** The last entry of the fork (inclusive); null to keep everything in `bytes`. */
  lastId: string | null;
  /** The path of the original transcript, which may no longer exist. */
  transcriptPath: string;
  newSessionId: string;
  /** The work tree's root, for agents that keep transcripts by directory. */
  projectRoot: string;
  /** The prompt or title to derive the fork's title from. */
  title: string;
  /** The fork is the same session, restored or imported, so it keeps its title. */
  continued?: boolean;
  /** A last message that tells the agent what was undone, and why. */
  account?: string | null;
}

export interface ForkResult {
  sessionId: string;
  /** Where the agent looks for the fork. The caller writes `content` there. */
  transcriptPath: string;
  content: Uint8Array;
  /** Other files that the agent needs, inside the transcript directory. */
  files?: { path: string; content: Uint8Array }[];
  /** The command that continues the fork, if resuming its session is not enough. */
  command?: UserCommand;
  /** The fork ends with the request's `account`. */
  told?: boolean;
}

/** Shows messages to the user through the agent's hook reply protocol. */
export interface HookResponder {
  /** Returns what the hook prints on stdout to make the agent show `message`. */
  notice(envelope: HookEnvelope, message: string): string;
}

/** For an agent without hooks: `watch` follows a file that the agent writes while it works. */
export interface FileWatcher {
  /** Relative to the work tree's root. */
  readonly file: string;
  /** Returns a reader for the file's content. The reader receives existing content first; each piece is whole lines. */
  reader(): WatchReader;
}

export interface WatchReader {
  /** Must not throw, whatever the bytes are. */
  read(bytes: Uint8Array): WatchSign[];
}

export type WatchSign =
  /** The agent started. */
  | { sign: "session"; id: string }
  | { sign: "prompt"; text: string }
  /** The agent answered or used a tool. `pending`: it has more to do in this turn, perhaps after a question. */
  | { sign: "work"; pending?: true };

/** For an agent that installs its own hooks. A failure is a UserError with the agent's message. */
export interface SelfInstaller {
  /** The program that installs the hooks. */
  readonly program: string;
  /** Installs hooks that call `executable`; returns how many. */
  install(root: string, executable: string): number;
  uninstall(root: string): void;
  areInstalled(root: string): boolean;
}

/** For an agent whose hooks are in a separate file, such as a plugin: the settings format `own-file`. */
export interface HookFile {
  /**
   * Returns the whole file. `command` returns the shell command that calls us for a verb. The file must contain at
   * least one such command unbroken (JSON escapes are fine), because we recognize our file by it.
   */
  content(command: (verb: string) => string): string;
}

/** For an agent that runs hooks only after the user reviewed them, and keeps the user's answers in a file. */
export interface HookTrust {
  /** The path of the answers file. `directory` is the agent's user settings directory. */
  file(directory: string): string;
  /** Adds or removes the answer that our hooks may run. Hooks that the user refused stay refused. */
  edit(hooks: ReviewedHooks): Edit;
  /** Sentences for the user: what else `answers` grants besides the hooks themselves. */
  granted(answers: string, hooks: ReviewedHooks): string[];
  /** Sentences for the user: which of the user's own answers keep the hooks from running. */
  refused(answers: string, hooks: ReviewedHooks): string[];
}

export interface ReviewedHooks {
  /** The file that contains the hooks. */
  file: string;
  /** The file's content; null if the edit is only used to remove the answer. */
  text: string | null;
  /** The folder that the hooks apply to; null for the user's hooks, which run in every folder. */
  root: string | null;
  env: Record<string, string | undefined>;
  isOurs(command: string): boolean;
}
