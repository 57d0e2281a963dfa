/**
 * The few settings of git that decide how bytes are stored. Asking git costs a process, so the answer is kept
 * with the times of every file it came from, and asked for again when one of them changes.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { readJson, writeJson } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { gitLocation } from "./location.ts";
import { git } from "./run.ts";
import type { Workspace } from "./workspace.ts";

export interface GitFacts {
  /** "true" and "input" convert line endings on the way in. */
  autocrlf: "true" | "input" | "false";
  /** Whether git would write CRLF line ends into the work tree where attributes don't say. */
  writesCrlf: boolean;
  fileMode: boolean;
  attributesFile: string | null;
  /** Part of the work tree may be missing on purpose. */
  sparse: boolean;
  /** Of everything that says what filters do. */
  filters: string;
}

interface Kept {
  v: 2;
  sources: Record<string, string>;
  facts: GitFacts;
}

export async function gitFacts(workspace: Workspace): Promise<GitFacts> {
  const file = join(workspace.stateDir, "git-facts.json");
  const kept = readKept(file);
  if (kept && Object.entries(kept.sources).every(([path, mark]) => markOf(path) === mark)) return kept.facts;
  const { args, cwd } = gitLocation(workspace);
  const output = await git([...args, "config", "--list", "--show-origin", "-z"], { cwd });
  const fresh = read(output, workspace);
  try {
    writeJson(file, fresh);
  } catch (error) {
    // Then git is asked again next time.
    logError("git facts", error);
  }
  return fresh.facts;
}

function readKept(file: string): Kept | undefined {
  try {
    const kept = readJson(file) as Partial<Kept> | undefined;
    if (kept?.v !== 2 || typeof kept.sources !== "object" || typeof kept.facts !== "object") return undefined;
    return kept.sources && kept.facts ? (kept as Kept) : undefined;
  } catch {
    return undefined;
  }
}

function read(output: Buffer, workspace: Workspace): Kept {
  const sources: Record<string, string> = {};
  const values = new Map<string, string>();
  for (const path of possibleSources(workspace)) sources[path] = markOf(path);
  const words = output.toString("utf8").split("\0");
  for (let i = 0; i + 1 < words.length; i += 2) {
    const origin = words[i] ?? "";
    if (origin.startsWith("file:")) {
      const path = resolve(workspace.root, origin.slice(5));
      sources[path] = markOf(path);
    }
    const pair = words[i + 1] ?? "";
    const newline = pair.indexOf("\n");
    values.set(newline === -1 ? pair : pair.slice(0, newline), newline === -1 ? "true" : pair.slice(newline + 1));
  }
  return { v: 2, sources, facts: factsFrom(values) };
}

function factsFrom(values: Map<string, string>): GitFacts {
  const truth = (name: string) => /^(true|yes|on|1)$/i.test(values.get(name) ?? "");
  const autocrlf = truth("core.autocrlf")
    ? "true"
    : values.get("core.autocrlf")?.toLowerCase() === "input"
      ? "input"
      : "false";
  const eol = values.get("core.eol")?.toLowerCase();
  const native = process.platform === "win32" ? "crlf" : "lf";
  return {
    autocrlf,
    writesCrlf: autocrlf === "true" || (autocrlf === "false" && (eol === "native" || !eol ? native : eol) === "crlf"),
    fileMode: !values.has("core.filemode") || truth("core.filemode"),
    attributesFile: values.get("core.attributesfile") ?? null,
    sparse: truth("core.sparsecheckout"),
    filters: hexDigest("sha1", JSON.stringify([...values].filter(([name]) => name.startsWith("filter.")))),
  };
}

/** Also files that are not there yet: one that appears must be noticed. */
function possibleSources(workspace: Workspace): string[] {
  const home = process.env["HOME"] || homedir();
  return [
    join(workspace.commonDir, "config"),
    join(workspace.gitDir, "config.worktree"),
    process.env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"),
    join(process.env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config"),
    process.env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig",
  ];
}

function markOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true });
    return `${stat.size}.${stat.mtimeNs}.${stat.ino}`;
  } catch {
    return "-";
  }
}
