/**
 * Caches the git settings that decide how git stores bytes and which files it ignores. Asking git costs a process, so
 * the cache records the times of every source file and is refreshed when one changes.
 */

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { readJson, statIfPresent, writeJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { homeDirectory } from "../../base/paths.ts";
import type { LineEndSettings } from "../../model/step.ts";
import { gitIn } from "../git.ts";
import { ignoreFiles, readIgnoreLines } from "../snapshot/ignore-rules.ts";
import type { Workspace } from "../workspace.ts";

export interface ConversionConfig {
  /** With "true" and "input", git converts line endings when it stores files. */
  autocrlf: "true" | "input" | "false";
  /** Whether git writes CRLF into the work tree where no attribute decides. */
  writesCrlf: boolean;
  fileMode: boolean;
  symlinks: boolean;
  attributesFile: string | null;
  /** Sparse checkout: tracked files may be missing on purpose. */
  sparse: boolean;
  /** Hash of all filter settings. */
  filters: string;
  filterNames: string[];
  /** Whether names that differ only in case mean the same file here. */
  ignoreCase: boolean;
  /** Settings for a git that must see every file: git's own would hide some. */
  corrections: string[];
  /** A program that tells git what has changed (`core.fsmonitor`). */
  monitor: string | null;
  /** Ignore rules outside any tree; null if they cannot be read. */
  ignoreLines: string | null;
}

export function lineEndSettings({ autocrlf, writesCrlf }: ConversionConfig): LineEndSettings {
  if (autocrlf === "true") return "autocrlf";
  if (autocrlf === "input") return "input";
  return writesCrlf ? "crlf" : "lf";
}

/** Applies recorded line-ending settings to the facts; without settings, returns the facts unchanged. */
export function factsUnder(facts: ConversionConfig, settings: LineEndSettings | undefined): ConversionConfig {
  if (settings === undefined) return facts;
  const autocrlf = settings === "autocrlf" ? "true" : settings === "input" ? "input" : "false";
  return { ...facts, autocrlf, writesCrlf: settings === "autocrlf" || settings === "crlf" };
}

/** Command-line options for git. */
export function lineEndArguments(settings: LineEndSettings | undefined): string[] {
  if (settings === undefined) return [];
  const autocrlf = settings === "autocrlf" ? "true" : settings === "input" ? "input" : "false";
  return ["-c", `core.autocrlf=${autocrlf}`, "-c", `core.eol=${settings === "crlf" ? "crlf" : "lf"}`];
}

interface Kept {
  v: 5;
  sources: Record<string, string>;
  facts: ConversionConfig;
}

export async function readConversionConfig(workspace: Workspace): Promise<ConversionConfig> {
  return conversionConfig(workspace);
}

/** A promise only if git must be asked. */
export function conversionConfig(workspace: Workspace): ConversionConfig | Promise<ConversionConfig> {
  const file = join(workspace.stateDir, "git-facts.json");
  const kept = readKept(file);
  if (kept && Object.entries(kept.sources).every(([path, mark]) => markOf(path) === mark)) return kept.facts;
  return askGit(workspace, file);
}

async function askGit(workspace: Workspace, file: string): Promise<ConversionConfig> {
  const output = await gitIn(workspace).run(["config", "--list", "--show-origin", "-z"], { asksMonitor: true });
  const fresh = read(output, workspace);
  try {
    writeJson(file, fresh);
  } catch (error) {
    // The next call asks git again.
    logError("git facts", error);
  }
  return fresh.facts;
}

function readKept(file: string): Kept | undefined {
  try {
    const kept = readJson(file) as Partial<Kept> | undefined;
    if (kept?.v !== 5 || typeof kept.sources !== "object" || typeof kept.facts !== "object") return undefined;
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
  const ignore = ignoreFiles(workspace, values.get("core.excludesfile"));
  for (const path of ignore) sources[path] = markOf(path);
  return { v: 5, sources, facts: { ...factsFrom(values, workspace.root), ignoreLines: readIgnoreLines(ignore) } };
}

function factsFrom(values: Map<string, string>, root: string): Omit<ConversionConfig, "ignoreLines"> {
  const truth = (name: string) => /^(true|yes|on|1)$/i.test(values.get(name) ?? "");
  const autocrlf = truth("core.autocrlf")
    ? "true"
    : values.get("core.autocrlf")?.toLowerCase() === "input"
      ? "input"
      : "false";
  const eol = values.get("core.eol")?.toLowerCase();
  // The setting may come from another machine. Where names differ by case, git would then hide one of two files.
  const ignoresCase = truth("core.ignorecase");
  const isWrong = ignoresCase && !foldsCase(root);
  const monitor = values.get("core.fsmonitor") ?? "";
  const native = process.platform === "win32" ? "crlf" : "lf";
  return {
    autocrlf,
    writesCrlf: autocrlf === "true" || (autocrlf === "false" && (eol === "native" || !eol ? native : eol) === "crlf"),
    fileMode: !values.has("core.filemode") || truth("core.filemode"),
    symlinks: !values.has("core.symlinks") || truth("core.symlinks"),
    attributesFile: values.get("core.attributesfile") ?? null,
    sparse: truth("core.sparsecheckout"),
    ignoreCase: ignoresCase && !isWrong,
    corrections: isWrong ? ["-c", "core.ignoreCase=false"] : [],
    monitor: monitor === "" || /^(true|yes|on|1|false|no|off|0)$/i.test(monitor) ? null : monitor,
    filters: hexDigest("sha1", JSON.stringify([...values].filter(([name]) => name.startsWith("filter.")))),
    filterNames: [...new Set([...values.keys()].flatMap((name) => FILTER_NAME.exec(name)?.[1] ?? []))],
  };
}

/** Whether the file system finds `.git` under a name in other case; also true if there is none. */
function foldsCase(root: string): boolean {
  const [own, found] = [".git", ".GIT"].map((name) => statIfPresent(join(root, name)));
  return !own || (found?.ino === own.ino && found.dev === own.dev);
}

const FILTER_NAME = /^filter\.(.+)\.(?:clean|smudge|process)$/;

/** Includes missing files, so that the cache notices when one appears. */
function possibleSources(workspace: Workspace): string[] {
  const home = homeDirectory();
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
