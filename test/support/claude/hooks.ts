/** Runs the hooks in Claude Code's settings as Claude Code does: found by event and matcher, through `/bin/sh`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Result, runProgram } from "../binary.ts";

interface HookGroup {
  matcher?: string;
  hooks?: { type?: string; command?: string }[];
}

export interface HookPlace {
  project: string;
  home: string;
  env: Record<string, string>;
}

/** Runs every hook of an event, the same command once; gives what each answered. */
export async function runHooks(
  place: HookPlace,
  event: string,
  subject: string,
  payload: Record<string, unknown>,
): Promise<Result[]> {
  const commands = new Set<string>();
  for (const group of groupsOf(place, event)) {
    if (!matches(group.matcher, subject)) continue;
    for (const hook of group.hooks ?? []) if (hook.type === "command" && hook.command) commands.add(hook.command);
  }
  const input = JSON.stringify(payload);
  const env = { ...place.env, CLAUDE_PROJECT_DIR: place.project, CLAUDECODE: "1", CLAUDE_CODE_ENTRYPOINT: "cli" };
  return Promise.all(
    [...commands].map((command) => runProgram("/bin/sh", ["-c", command], { cwd: place.project, env, input })),
  );
}

function groupsOf(place: HookPlace, event: string): HookGroup[] {
  const files = [
    join(place.home, ".claude", "settings.json"),
    join(place.project, ".claude", "settings.json"),
    join(place.project, ".claude", "settings.local.json"),
  ];
  return files.flatMap((file) => settingsIn(file).hooks?.[event] ?? []);
}

function settingsIn(file: string): { hooks?: Record<string, HookGroup[]> } {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

function matches(matcher: string | undefined, subject: string): boolean {
  if (!matcher || matcher === "*") return true;
  return new RegExp(`^(?:${matcher})$`).test(subject);
}
