/** What became of the turns behind hits. Reads a repository's records once per search, and only for hits that need them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace } from "../../git/workspace.ts";
import type { Conversation } from "../index/documents.ts";
import type { RepositoryRecords } from "./records.ts";

export interface Fate {
  state: "kept" | "undone" | "rewound";
  /** The commit that took the turn's changes; null if none did, or if it is not linked to the session. */
  commit: string | null;
  /** The result of the check on the turn's state; null if it was not checked. */
  check: "green" | "red" | null;
}

export type SessionLocation = Pick<Conversation, "agent" | "session" | "repository" | "store">;

/** The records of all repositories that a search needs. */
export class Fates {
  readonly #repositories = new Map<string, Promise<RepositoryRecords | null>>();

  /** The records of the repository; null if it is gone or nothing was recorded there. */
  of({ repository, store }: SessionLocation): Promise<RepositoryRecords | null> {
    if (repository === null || store === null) return Promise.resolve(null);
    const known = this.#repositories.get(repository) ?? readRecords(repository, store);
    this.#repositories.set(repository, known);
    return known;
  }
}

async function readRecords(repository: string, store: string): Promise<RepositoryRecords | null> {
  const workspace = existsSync(join(store, "steps.jsonl")) ? findWorkspace(repository) : undefined;
  if (!workspace || workspace.root !== repository) return null;
  const { RepositoryRecords } = await import("./records.ts");
  return new RepositoryRecords(workspace);
}
