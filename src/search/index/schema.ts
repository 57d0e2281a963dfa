/**
 * The tables of the search index, as docs/formats/search-index.md specifies them. The index is a cache: an index of an
 * earlier version is deleted and made again, never converted.
 */
import type { Database } from "./database-types.ts";

export const VERSION = 3;
/** The oldest SQLite that the index is tested with: that of macOS 14. */
export const OLDEST_SQLITE = "3.43.0";

/** Fields in the order of their numbers in `docs.field`. The order is part of the format. */
export const FIELDS = ["prompt", "answer", "thinking", "command", "output", "added", "removed", "path"] as const;
export type Field = (typeof FIELDS)[number];

const TABLES = `
  create table conversations (
    id integer primary key,
    agent text not null,
    session text not null,
    part text not null,
    repository text,
    store text,
    origin text not null,
    size integer not null default 0,
    modified integer not null default 0,
    offset integer not null default 0,
    generation integer not null default 0,
    mark text not null default '',
    turns integer not null default 0,
    title text,
    model text,
    unique (agent, session, part)
  );
  create index conversations_by_origin on conversations (origin);
  create index conversations_by_time on conversations (modified);
  create table docs (
    id integer primary key,
    conversation integer not null,
    field integer not null,
    time integer not null,
    turn integer not null,
    position integer not null,
    block integer not null,
    start integer not null,
    length integer not null,
    step text,
    path text
  );
  create index docs_by_conversation on docs (conversation);
  create index docs_by_step on docs (step) where step is not null;
  create table blocks (id integer primary key, data blob not null);
  create table segments (id integer primary key, docs integer not null, bytes integer not null, removed integer not null);
  create table runs (id integer primary key autoincrement, segment integer not null, bytes integer not null);
  create table words (run integer not null, first blob not null, data blob not null, primary key (run, first)) without rowid;
  create table folders (path text primary key, modified integer not null);
  create table repositories (root text primary key, store text not null, modified integer not null);
  create table state (key text primary key, value text not null);
`;

export function createTables(database: Database): void {
  database.execute(`begin immediate;${TABLES} pragma user_version = ${VERSION}; commit`);
}
