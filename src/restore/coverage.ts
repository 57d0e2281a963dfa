/** What a restore of files can't take back: what an agent did elsewhere since the target, read from its transcripts. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { textAt } from "../agents/paths.ts";
import { getAgent } from "../agents/registry.ts";
import { codeOf } from "../base/errors.ts";
import { sessionKey } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import { oneLine, shorten, shownPath } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession } from "../lifecycle/session-state.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step, TranscriptPosition } from "../steps/model.ts";
import type { Entry } from "../transcripts/model.ts";
import type { NotUndone } from "./model.ts";

const COMMAND_LENGTH = 100;
const MOST_BYTES = 64 << 20;

/** Commands whose effects are not files of this work tree. A later line does not count where an earlier one does. */
const EFFECTS: readonly { words: RegExp; why: string }[] = [
  { words: /\bgit\s+(?:-\S+\s+\S+\s+)*push\b/, why: "it pushed to another repository" },
  {
    words:
      /\bgit\s+(?:-\S+\s+\S+\s+)*(?:commit|tag|branch|merge|rebase|cherry-pick|stash|reset|switch|checkout\s+-[bB]|am|revert|worktree|config)\b/,
    why: "it changed git's own state: commits, branches, tags and the stash stay",
  },
  {
    words: /\b(?:npm|pnpm|yarn|bun)\s+(?:i|install|ci|add|remove|rm|uninstall|update|upgrade|link)\b/,
    why: "it installed or removed packages",
  },
  {
    words:
      /\b(?:pip[0-9.]*|pipx|uv|poetry|bundle|gem|cargo|go|composer|brew|apt|apt-get|dnf|apk)\s+(?:\S+\s+)?(?:add|install|remove|uninstall|upgrade|get|sync)\b/,
    why: "it installed or removed packages",
  },
  {
    words: /\b(?:docker|docker-compose|podman|kubectl|helm|terraform)\s/,
    why: "it may have changed containers or infrastructure",
  },
  {
    words: /\b(?:migrate|db:(?:create|drop|migrate|push|reset|seed))\b|\b(?:psql|mysql|sqlite3|mongosh?|redis-cli)\s/,
    why: "it may have changed a database",
  },
  { words: /\b(?:curl|wget|ssh|scp|rsync|sftp|gh|aws|gcloud|az)\s/, why: "it talked to another machine" },
  {
    words: /\b(?:systemctl|service|crontab|launchctl|kill|pkill|killall)\s/,
    why: "it changed running services or processes",
  },
];

/** Since `target`, by every session that worked in this work tree. */
export async function effectsElsewhere(workspace: Workspace, target: Step): Promise<NotUndone[]> {
  const found = new Map<string, NotUndone>();
  for (const { step, from } of sessionsSince(workspace, target)) {
    try {
      const agent = step.agent === null ? undefined : await getAgent(step.agent);
      if (!agent?.analyser) continue;
      const cwd = loadSession(workspace, sessionKey(step.agent ?? "", step.session ?? ""))?.cwd ?? workspace.root;
      const { entries } = agent.analyser.read(readFrom(from.path, from.offset));
      for (const entry of entries) {
        for (const effect of effectsOf(agent, entry, workspace.root, cwd))
          found.set(`${effect.what}\0${effect.why}`, effect);
      }
    } catch (error) {
      if (codeOf(error) !== "ENOENT") logError("reading what was done since", error);
    }
  }
  return [...found.values()];
}

export function effectsOf(agent: Agent, entry: Entry, root: string, cwd: string): NotUndone[] {
  if (entry.type !== "tool-use") return [];
  const outside = entry.files
    .map((file) => (isAbsolute(file) ? file : resolve(cwd, file)))
    .filter((file) => !isInside(root, file))
    .map((file) => ({ what: shownPath(file), why: "it lies outside of this folder" }));
  const hooks = agent.profile.hooks;
  const isShell =
    entry.toolName !== null &&
    hooks !== undefined &&
    Object.hasOwn(hooks.tools, entry.toolName) &&
    hooks.tools[entry.toolName] === "shell";
  const command = isShell ? textAt({ tool_input: entry.toolInput }, hooks.fields.tool_command) : null;
  const why = command === null ? undefined : effectOf(command);
  return command === null || why === undefined
    ? outside
    : [...outside, { what: `\`${shorten(oneLine(command), COMMAND_LENGTH)}\``, why }];
}

/** Why a command's effects are not undone by restoring files; undefined where none are known. */
export function effectOf(command: string): string | undefined {
  return EFFECTS.find(({ words }) => words.test(command))?.why;
}

/** Every session with steps since the target, and from where on its transcript counts. */
function sessionsSince(workspace: Workspace, target: Step): { step: Step; from: TranscriptPosition }[] {
  const first = new Map<string, { step: Step; from: TranscriptPosition }>();
  for (const step of stepsNewestFirst(workspace)) {
    const { transcript } = step;
    if (step.worktree === workspace.worktree && step.session !== null && (transcript || step.kind === "turn-start")) {
      const key = `${step.agent}\0${step.session}`;
      const path = transcript?.path ?? first.get(key)?.from.path;
      const position = transcript ?? (path === undefined ? null : { path, offset: 0, lastId: null, generation: 0 });
      if (position) first.set(key, { step, from: position });
    }
    if (step.id === target.id) break;
  }
  return [...first.values()];
}

function readFrom(path: string, offset: number): Buffer {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(MOST_BYTES, Math.max(0, size - offset)));
    const length = readSync(fd, bytes, 0, bytes.length, offset);
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}
