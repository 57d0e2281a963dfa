/**
 * Recognizes, from its text alone, what a shell command does that restoring files does not undo: packages, databases,
 * other machines, processes, git's own state. Never runs the command. touched-paths.ts covers files.
 */
import { gitVerb, programOf, RUNNERS, simpleCommands, withoutPrefixes } from "../../recording/tiers/destructive.ts";

/** Things in git that a command may have created; refs have the details. */
export type Made = "commit" | "branch" | "tag" | "stash";

export type CommandEffect =
  | "packages"
  | "database"
  | "machine"
  | "services"
  | "background"
  | "infrastructure"
  | "push"
  | "git-config"
  | Made;

const MAX_COMMAND_LENGTH = 20_000;

const GIT_VERBS: Record<string, CommandEffect> = {
  push: "push",
  ...each("commit", "commit merge rebase cherry-pick am revert reset pull"),
  ...each("branch", "branch switch worktree"),
  ...each("tag", "tag"),
  ...each("stash", "stash"),
  config: "git-config",
  fetch: "machine",
  clone: "machine",
};

const PACKAGE_VERBS = new Set(
  "i install ci add remove rm uninstall update upgrade link get sync require tap dist-upgrade".split(" "),
);
const NODE_PACKAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);
const PACKAGERS = new Set(
  "pip pipx uv poetry bundle gem cargo go composer brew apt apt-get dnf yum apk pacman".split(" "),
);
const PROGRAMS: Record<string, CommandEffect> = {
  ...each("infrastructure", "docker docker-compose podman kubectl helm terraform pulumi"),
  ...each("database", "psql mysql mariadb sqlite3 mongo mongosh redis-cli"),
  ...each("machine", "curl wget ssh scp rsync sftp gh aws gcloud az nc telnet http https"),
  ...each("services", "systemctl service crontab launchctl kill pkill killall"),
  ...each("background", "nohup setsid disown"),
};
const MIGRATION = /^(?:migrate|migrations?:\S+|migrate:\S+|db:(?:create|drop|migrate|push|reset|rollback|seed)\S*)$/;
/** Programs that only print or search text that mentions such commands. */
const READERS = new Set(
  "cat less more head tail ls grep rg ag find echo printf git sed awk wc diff man which".split(" "),
);
/** Programs that run their arguments as a command. */
const LAUNCHERS = new Set([...RUNNERS, "npx", "bunx", "pnpx", "exec", "run", "dlx"]);
const MAX_WORDS = 40;

/** A fast pre-check to skip parsing harmless commands. */
const SUSPECT = new RegExp(
  String.raw`\b(?:${["git", ...Object.keys(PROGRAMS), ...NODE_PACKAGERS, ...PACKAGERS, ...LAUNCHERS].join("|")}|pip[0-9.]+|python[0-9.]*|(?:ba|z|da)?sh|alembic|migrat\w+|db:\w+)\b|&`,
);

/** True if the command may contain anything this file recognizes. */
export function maySay(command: string): boolean {
  return command.length <= MAX_COMMAND_LENGTH && SUSPECT.test(command);
}

/** `background`: the agent started the command in the background. */
export function effectsOfCommand(command: string, background = false): CommandEffect[] {
  if (command.length > MAX_COMMAND_LENGTH) return background ? ["background"] : [];
  const found = new Set<CommandEffect>();
  for (const words of SUSPECT.test(command) ? simpleCommands(command) : []) {
    for (const effect of effectsOfWords(withoutPrefixes(words).slice(0, MAX_WORDS))) found.add(effect);
  }
  if (background || staysBehind(command)) found.add("background");
  return [...found];
}

function effectsOfWords(words: readonly string[]): CommandEffect[] {
  const program = programOf(words).replace(/^pip[0-9.]*$/, "pip");
  const rest = words.slice(1);
  const plain = rest.filter((word) => !word.startsWith("-"));
  if (program === "git") return gitEffects(rest);
  if (Object.hasOwn(PROGRAMS, program)) {
    const own = PROGRAMS[program];
    return own ? [own, ...(LAUNCHERS.has(program) ? effectsOfWords(rest) : [])] : [];
  }
  if (/^python[0-9.]*$/.test(program) && rest[0] === "-m") return effectsOfWords(rest.slice(1));
  if (/^(?:ba|z|da)?sh$/.test(program)) {
    const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
    return at < 0 ? [] : effectsOfCommand(rest[at + 1] ?? "");
  }
  if (NODE_PACKAGERS.has(program)) {
    if (LAUNCHERS.has(plain[0] ?? "")) return effectsOfWords(plain.slice(1));
    if (PACKAGE_VERBS.has(plain[0] ?? "") || (program === "yarn" && rest.length === 0)) return ["packages"];
  } else if (PACKAGERS.has(program)) {
    if (LAUNCHERS.has(plain[0] ?? "")) return effectsOfWords(plain.slice(1));
    if (plain.slice(0, 2).some((word) => PACKAGE_VERBS.has(word))) return ["packages"];
  } else if (LAUNCHERS.has(program)) {
    const at = rest.findIndex((word) => !word.startsWith("-") && !/^[\d.]+[smhd]?$|=/.test(word));
    return at < 0 ? [] : effectsOfWords(rest.slice(at));
  }
  if (READERS.has(program)) return [];
  if ([program, ...plain].some((word) => MIGRATION.test(word))) return ["database"];
  return program === "alembic" && /^(?:upgrade|downgrade)$/.test(plain[0] ?? "") ? ["database"] : [];
}

function gitEffects(words: readonly string[]): CommandEffect[] {
  const verb = gitVerb(words);
  const behind = words.slice(words.indexOf(verb) + 1);
  if (verb === "checkout") return behind.some((word) => word === "-b" || word === "-B") ? ["branch"] : [];
  // These forms only list.
  if (verb === "branch" && behind.every((word) => word.startsWith("-"))) return [];
  if (verb === "switch" && !behind.some((word) => /^(?:-[cC]|--create)/.test(word))) return [];
  if ((verb === "tag" || verb === "stash" || verb === "worktree") && /^(?:-l|--list|list|show)$/.test(behind[0] ?? ""))
    return [];
  const effect = Object.hasOwn(GIT_VERBS, verb) ? GIT_VERBS[verb] : undefined;
  return effect ? [effect] : [];
}

/** A single `&` at the end of a command; inside quotes it has no meaning. */
function staysBehind(command: string): boolean {
  const bare = command.replace(/\\.|'[^']*'|"(?:[^"\\]|\\.)*"/g, "");
  return /(?:^|[^&<>|])&(?![&>\d])/.test(bare);
}

function each(effect: CommandEffect, names: string): Record<string, CommandEffect> {
  return Object.fromEntries(names.split(" ").map((name) => [name, effect]));
}
