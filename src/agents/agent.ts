/**
 * What Backtrail knows of an agent. The core is small: who it is and what its hooks mean. Everything else is
 * an optional capability, found by testing for it; an agent without any is still recorded, code only.
 */
import type { Edit } from "../edit/edit.ts";
import type { Conversation, TranscriptStretch } from "../transcripts/model.ts";
import type { AgentContext, Event, HookEnvelope } from "./event.ts";
import type { Profile } from "./profile.ts";

export interface Agent {
  readonly profile: Profile;
  /** The event that a hook's payload means, or null where it means nothing for the lifecycle. */
  toEvent(envelope: HookEnvelope, context: AgentContext): Event | null;

  readonly analyser?: TranscriptAnalyser;
  readonly preparer?: TranscriptPreparer;
  readonly forker?: TranscriptForker;
  readonly responder?: HookResponder;
  readonly hookFile?: HookFile;
  readonly watcher?: FileWatcher;
  readonly ownHooks?: OwnHooks;
  /** Loaded only when hooks are put in place or taken out. */
  readonly trust?: () => Promise<HookTrust>;
  /** Tokens are told with events (`tokensSoFar`), whether or not the transcript has them. */
  readonly tellsTokens?: true;
  /** The directory of a work tree's sessions, below that of all transcripts; for agents that keep them apart. */
  readonly sessionFolder?: (projectRoot: string) => string;
}

/** Reads transcripts. Every method takes bytes or a path with offsets, so that a turn costs only its tail. */
export interface TranscriptAnalyser {
  /**
   * `bytes` are the transcript from `offset` (a line's start) on. Must not throw on torn or foreign lines.
   */
  readStretch(bytes: Uint8Array, offset: number): TranscriptStretch;
  /** The whole conversation, for `show` and the picker. */
  read(bytes: Uint8Array): Conversation;
  /** For an agent that may write one document and no lines: whether nothing of it is missing, line end or not. */
  isWhole?(bytes: Uint8Array): boolean;
  /** False where the transcript doesn't tell them. */
  readonly countsTokens?: boolean;
}

/** Waits until the agent has written the end of its turn to the transcript; bounded, and never throws. */
export interface TranscriptPreparer {
  /** `from` is the offset at which the turn began. */
  waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void>;
}

/** Cuts a conversation and gives it to the agent as a new session. */
export interface TranscriptForker {
  fork(request: ForkRequest): ForkResult;
  /** One file holds several branches: where a conversation ends is told by its last entry, not by its bytes. */
  readonly branching?: boolean;
  /** The command that continues a session, to be shown and typed by a person. */
  resumeCommand(sessionId: string): string;
}

export interface ForkRequest {
  /** The original transcript's native bytes up to the step, from our own store. */
  bytes: Uint8Array;
  /** The last entry that belongs to the fork (inclusive); null means: to the end of `bytes`. */
  lastId: string | null;
  /** Where the original transcript is or was. */
  transcriptPath: string;
  newSessionId: string;
  /** The work tree's root, for agents that keep transcripts by directory. */
  projectRoot: string;
  /** The prompt or title that the fork's title is made from. */
  title: string;
  /** Words for the agent, as the last thing that was said to it: what was undone, and why. */
  account?: string | null;
}

export interface ForkResult {
  sessionId: string;
  /** Where the fork must be written for the agent to find it, and what to write. The caller writes. */
  transcriptPath: string;
  content: Uint8Array;
  /** What the agent needs beside it; below the same directory as the transcripts. */
  files?: { path: string; content: Uint8Array }[];
  /** What continues the fork, where that is more than to resume its session. */
  command?: string;
  /** The fork ends with the account. */
  told?: boolean;
}

/** Says something to the user through the agent's own reply protocol. */
export interface HookResponder {
  /** What the hook prints on stdout so that the agent shows `message` to its user. */
  notice(envelope: HookEnvelope, message: string): string;
}

/** For an agent without hooks: a file that it writes as it works tells what it does, while `watch` looks at it. */
export interface FileWatcher {
  /** From the work tree's root. */
  readonly file: string;
  /** Reads what is appended piece by piece, each of whole lines; begins with what was there before. */
  reader(): WatchReader;
}

export interface WatchReader {
  /** Must not throw, whatever the bytes are. */
  read(bytes: Uint8Array): WatchSign[];
}

export type WatchSign =
  /** The agent was started. */
  | { sign: "session"; id: string }
  | { sign: "prompt"; text: string }
  /** It answered or did something. */
  | { sign: "work" };

/** For an agent that puts its hooks in place by itself. A failure is a UserError with the agent's own words. */
export interface OwnHooks {
  /** The program that does it. */
  readonly program: string;
  /** `executable` is what the hooks are to call; gives how many were put in place. */
  install(root: string, executable: string): number;
  uninstall(root: string): void;
  areInstalled(root: string): boolean;
}

/** For an agent whose hooks are a file of their own, such as a plugin: the settings format `own-file`. */
export interface HookFile {
  /**
   * The whole file. `command` gives the shell command that calls us for a verb; the file must hold at least one in one
   * piece (perhaps escaped as JSON), since that is how it is known as ours.
   */
  content(command: (verb: string) => string): string;
}

/** For an agent that runs hooks only after its user has reviewed them, and keeps the user's answers in a file. */
export interface HookTrust {
  /** The file with the answers. `directory` is where the agent keeps its user's settings. */
  file(directory: string): string;
  /** Puts in, or takes out, the answer that our hooks may run. What the user has refused stays refused. */
  edit(hooks: ReviewedHooks): Edit;
  /** Sentences for the user: what was answered beside the hooks themselves, in a file with these answers. */
  granted(answers: string, hooks: ReviewedHooks): string[];
  /** Sentences for the user: what keeps hooks from running because the user wants it so. */
  refused(answers: string, hooks: ReviewedHooks): string[];
}

export interface ReviewedHooks {
  /** The file that they are in. */
  file: string;
  /** What it says; null where an answer is only to be taken out. */
  text: string | null;
  /** The folder whose hooks they are; null for those of the user, which run in every folder. */
  root: string | null;
  env: Record<string, string | undefined>;
  isOurs(command: string): boolean;
}
