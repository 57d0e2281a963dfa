/**
 * The protocol between a machine and the hub, version 1: the shapes of requests and answers, and their limits. Both
 * sides ignore fields that they do not know, so that either may be newer. docs/formats/hub.md documents it.
 */
import * as z from "zod/mini";
import { LEVELS, type Level, type Role } from "./levels.ts";

export const PROTOCOL_VERSION = 1;
/** Sent with every request; a hub that no longer understands this version answers 426. */
export const VERSION_HEADER = "backtrail-protocol";

const MAX_BATCH_TURNS = 500;
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Characters; a longer text is cut by the client. */
export const MAX_TEXT = 32_768;
export const MAX_MESSAGE_TEXT = 4_096;
export const MAX_MESSAGES = 200;
export const MAX_PATHS = 500;
export const MAX_PATH = 1_024;
export const MAX_CHECKPOINTS = 50;

const name = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const text = (most: number) => z.string().check(z.maxLength(most));
const count = z.int().check(z.minimum(0), z.maximum(Number.MAX_SAFE_INTEGER));
const time = z.iso.datetime({ offset: true });

const sessionKeySchema = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** Such as `github.com/acme/shop`. */
export const repositorySchema = z.string().check(z.regex(/^[^\p{Cc}\p{Cs}\s][^\p{Cc}\p{Cs}]{0,299}$/u));
const levelSchema = z.enum(LEVELS);

const messageSchema = z.object({
  kind: z.enum(["answer", "tool-use", "tool-result"]),
  tool: z.nullable(text(200)),
  text: text(MAX_MESSAGE_TEXT),
});

export const turnSchema = z.object({
  agent: name(64),
  /** A digest of the session's id: the same as in `forget`'s record. */
  session: sessionKeySchema,
  turn: z.int().check(z.minimum(1), z.maximum(1_000_000)),
  startedAt: time,
  endedAt: z.nullable(time),
  model: z.nullable(text(200)),
  status: z.enum(["kept", "undone", "rewound"]),
  fileCount: z.int().check(z.minimum(0), z.maximum(10_000_000)),
  tokens: z.nullable(z.object({ input: count, output: count, cacheRead: count, cacheWrite: count })),
  apiCalls: z.nullable(z.int().check(z.minimum(0), z.maximum(10_000_000))),
  usd: z.nullable(z.number().check(z.minimum(0), z.maximum(1e9))),
  /** From the level `prompts` on. */
  text: z.nullable(
    z.object({
      /** The agent's own id. */
      session: name(500),
      prompt: z.nullable(text(MAX_TEXT)),
      paths: z.array(text(MAX_PATH)).check(z.maxLength(MAX_PATHS)),
      checkpoints: z.array(z.string().check(z.regex(/^[0-9A-Za-z]{12,26}$/))).check(z.maxLength(MAX_CHECKPOINTS)),
    }),
  ),
  /** At the level `everything`. */
  messages: z.nullable(z.array(messageSchema).check(z.maxLength(MAX_MESSAGES))),
});

export const joinRequestSchema = z.object({ invitation: name(200), device: name(200) });
export const shareRequestSchema = z.object({
  repository: repositorySchema,
  level: levelSchema,
  chosenAt: time,
  /** The machine's current clock, to compute the age of the choice even if that clock is wrong. */
  sentAt: z.optional(time),
});
export const turnsRequestSchema = z.object({
  repository: repositorySchema,
  /** Grows with every request of a machine: a delayed older copy of a turn never replaces a newer one. */
  revision: count,
  turns: z.array(turnSchema).check(z.maxLength(MAX_BATCH_TURNS)),
});
export const forgetRequestSchema = z.object({ sessions: z.array(sessionKeySchema).check(z.maxLength(1_000)) });

export type Message = z.infer<typeof messageSchema>;
export type SharedTurn = z.infer<typeof turnSchema>;
export type JoinRequest = z.infer<typeof joinRequestSchema>;
export type ShareRequest = z.infer<typeof shareRequestSchema>;
export type TurnsRequest = z.infer<typeof turnsRequestSchema>;
export type ForgetRequest = z.infer<typeof forgetRequestSchema>;

export interface JoinAnswer {
  token: string;
  device: string;
  person: string;
  role: Role;
}

export interface MeAnswer {
  person: string;
  role: Role;
  /** Changes when the index was created again and lacks everything that was sent before. */
  generation: string;
  /** Repositories that the person may read, with the level. */
  repositories: { name: string; level: Level }[];
}

/** Signs one browser in at the hub's page, for a few minutes: the page's address is `<hub>/#token=<link>`. */
export interface LinkAnswer {
  link: string;
  expiresAt: string;
}

export interface ShareAnswer {
  level: Level;
}

export interface TurnsAnswer {
  generation: string;
  /** The level that the hub keeps; lower than what was sent if the person chose so on another machine. */
  level: Level;
  /** The number of turns that are stored now, changed or not. */
  stored: number;
  /** Turns that the hub rejects: forgotten sessions, and other people's sessions. */
  refused: { session: string; turn: number; reason: "forgotten" | "not-yours" }[];
}

export interface ForgetAnswer {
  forgotten: string[];
  /** Other people's sessions. */
  refused: string[];
}

/** A turn as others see it: texts are null if the person may not read them, or if they were never shared. */
export interface VisibleTurn {
  repository: string;
  person: string | null;
  agent: string;
  session: string | null;
  turn: number;
  startedAt: string;
  endedAt: string | null;
  model: string | null;
  status: "kept" | "undone" | "rewound";
  fileCount: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number } | null;
  prompt: string | null;
  paths: string[] | null;
  checkpoints: string[] | null;
}

export interface Page<T> {
  items: T[];
  /** Pass as `after` to get the next page; null at the end. */
  next: string | null;
}

export interface SearchHit extends VisibleTurn {
  field: "prompt" | "answer" | "tool-use" | "tool-result";
  snippet: string;
}

export interface ActivityRow {
  day: string;
  repository: string;
  agent: string;
  turns: number;
  people: number;
  files: number;
  undone: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
  usd: number | null;
}

export interface ErrorAnswer {
  error: { kind: string; message: string; hint?: string };
}

export function levelOf(turn: Pick<SharedTurn, "text" | "messages">): Level {
  if (turn.messages !== null) return "everything";
  return turn.text === null ? "counts" : "prompts";
}

/** Removes everything above a level. */
export function limitedTo(turn: SharedTurn, level: Level): SharedTurn {
  if (level === "everything") return turn;
  return { ...turn, messages: null, text: level === "prompts" ? turn.text : null };
}
