/** The texts around a hit, as they were indexed: they outlive the agent's own file. */
import { asDocument, type Conversation, type Document } from "../index/documents.ts";
import type { Field } from "../index/schema.ts";
import type { SearchIndex } from "../index/store.ts";

export interface IndexedText {
  field: Field;
  text: string;
  turn: number;
  /** The changed file, for the fields `added` and `removed`. */
  path: string | null;
  isHit: boolean;
}

/** All texts of the turn that a document belongs to, in order. Of a changed file, those of the same step. */
export function turnTexts(index: SearchIndex, hit: number): IndexedText[] {
  const row = index.database.statement("select * from docs where id = ?").get(hit);
  if (row === undefined) return [];
  const { conversation, turn, step } = asDocument(row);
  const sql = "select * from docs where conversation = ? and turn = ? order by position, id";
  const documents = index.database.statement(sql).all(conversation, turn).map(asDocument);
  return documents.filter((one) => one.step === step).map((one) => indexedText(index, one, one.id === hit));
}

export interface IndexedSession {
  conversation: Conversation;
  texts: IndexedText[];
}

/** Sessions whose id has this prefix, each once, with their prompts and answers. */
export function indexedSessions(index: SearchIndex, id: string): IndexedSession[] {
  const found = index.conversations("substr(session, 1, ?) = ? and part = ''", id.length, id);
  const exact = found.filter(({ session }) => session === id);
  return (exact.length > 0 ? exact : found).map((conversation) => ({ conversation, texts: said(index, conversation) }));
}

function said(index: SearchIndex, { id }: Conversation): IndexedText[] {
  const sql = "select * from docs where conversation = ? and field in (0, 1) order by position, id";
  const documents = index.database.statement(sql).all(id).map(asDocument);
  return documents.map((one) => indexedText(index, one, false));
}

function indexedText(index: SearchIndex, document: Document, isHit: boolean): IndexedText {
  const { field, turn, path } = document;
  return { field, turn, path, isHit, text: index.textOf(document) };
}
