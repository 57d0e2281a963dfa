/**
 * What a repository shares with the team: its level, and the name under which the team knows it. Nothing leaves a
 * repository that has no such file.
 */
import { basename, join } from "node:path";
import { now } from "../base/clock.ts";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { LEVELS, type Level } from "./levels.ts";
import { TeamProblemError } from "./problems.ts";
import { repositorySchema } from "./protocol.ts";

export interface Share {
  v: 1;
  level: Level;
  /** Such as `github.com/acme/shop`. */
  repository: string;
  /** When the user chose the level. */
  chosenAt: string;
  /** Turns that began earlier are not shared; null: all recorded turns are. */
  since: string | null;
}

export function readShare(workspace: Workspace): Share | undefined {
  const value = readJson(shareFile(workspace));
  if (value === undefined) return undefined;
  if (
    isRecord(value) &&
    value["v"] === 1 &&
    LEVELS.includes(value["level"] as Level) &&
    typeof value["repository"] === "string"
  )
    return value as unknown as Share;
  throw new TeamProblemError("failed", { kind: "share-file-damaged" });
}

export function writeShare(workspace: Workspace, choice: Pick<Share, "level" | "repository" | "since">): Share {
  if (!repositorySchema.safeParse(choice.repository).success)
    throw new TeamProblemError("usage", { kind: "not-a-team-repository" });
  const share: Share = { v: 1, ...choice, chosenAt: now().toISOString() };
  writeJson(shareFile(workspace), share, { sync: true });
  return share;
}

/** The hub keeps less than this machine would send: the user chose so on another machine. */
export function lowerShare(workspace: Workspace, share: Share, level: Level): void {
  writeJson(shareFile(workspace), { ...share, level } satisfies Share, { sync: true });
}

export function removeShare(workspace: Workspace): void {
  removeFile(shareFile(workspace));
}

/** All clones of a repository should have the same name: it comes from the address of `origin`, without credentials. */
export async function repositoryName(workspace: Workspace): Promise<string> {
  if (workspace.kind === "private") return basename(workspace.root);
  const { code, stdout } = await tryGit(["remote", "get-url", "origin"], { cwd: workspace.root });
  const address = code === 0 ? (stdout.toString("utf8").split("\n")[0] ?? "") : "";
  return nameFromAddress(address) || basename(workspace.root);
}

/**
 * `git@github.com:acme/shop.git` and `https://github.com/acme/shop` have the same name. A local path is its last part.
 * Removes a password completely, even with `@` or `:` in it, and any query.
 */
export function nameFromAddress(address: string): string {
  const url = /^[a-z+]+:\/\/(?:[^/]*@)?([^/:@]+)(?::\d*)?\/([^?#]*)/i.exec(address);
  const scp = /^(?:[^/]*@)?([^/:@]{2,}):(?!\/\/)(.*)$/.exec(address);
  const [, host = "", path = ""] = (address.startsWith("file:") ? null : (url ?? scp)) ?? [];
  const clean = (text: string) =>
    text
      .replace(/(?<!\/)\/+$/, "")
      .replace(/\.git$/, "")
      .replace(/(?<!\/)\/+$/, "")
      .replace(/^\/+/, "");
  if (host === "") return basename(clean(address.replace(/^file:\/\//, "")));
  return `${host.toLowerCase()}/${clean(path)}`;
}

function shareFile(workspace: Workspace): string {
  return join(teamDirectory(workspace), "share.json");
}

export function teamDirectory({ storeDir }: Workspace): string {
  return join(storeDir, "team");
}
