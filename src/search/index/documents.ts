/** Defines what the index holds: conversations, and documents, which are texts of one field. */
import { FIELDS, type Field } from "./schema.ts";

/** The part of a session's name under which its changes to files are indexed. */
export const CHANGES = "changes";

/** Names a text that is indexed as a unit: a session's conversation, one of its subagents, or its changes to files. */
export interface ConversationName {
  agent: string;
  session: string;
  /** Empty for the session's conversation. */
  part: string;
}

export interface Conversation extends ConversationName {
  id: number;
  /** The root of the work tree, or the directory in which the agent was started. */
  repository: string | null;
  /** The store of a recorded session. */
  store: string | null;
  /** The file or directory that the text comes from. */
  origin: string;
  /** Size and time of the origin when it was last read, to see that it changed. */
  size: number;
  modified: number;
  /** The number of bytes that are indexed. */
  offset: number;
  generation: number;
  /** A digest of the bytes before `offset`: it tells an append from a rewrite. */
  mark: string;
  /** The number of prompts before `offset`. */
  turns: number;
  title: string | null;
  model: string | null;
}

export interface NewDocument {
  field: Field;
  /** Milliseconds since 1970; 0 if unknown. */
  time: number;
  turn: number;
  /** The offset of the entry in the transcript. */
  position: number;
  text: string;
  /** For changes to files: the step that recorded them. */
  step?: string;
  path?: string;
}

export interface Document {
  id: number;
  conversation: number;
  field: Field;
  time: number;
  turn: number;
  position: number;
  step: string | null;
  path: string | null;
  block: number;
  start: number;
  length: number;
}

/** A row of `docs` as a document. */
export function asDocument(row: unknown): Document {
  const document = row as Omit<Document, "field"> & { field: number };
  return { ...document, field: FIELDS[document.field] ?? "output" };
}
