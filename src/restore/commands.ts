/**
 * What a shell command does that no restore of files takes back, as far as its words tell: packages, databases, other
 * machines, processes, git's own state; and the files that it plainly writes. Read, never run.
 */
import { gitVerb, programOf, RUNNERS, simpleCommands, withoutPrefixes } from "../lifecycle/destructive.ts";

export interface CommandEffect {
  why: string;
  /** What it may have made in git, where refs tell more. */
  makes?: Made;
}

export type Made = "commit" | "branch" | "tag" | "stash";

const LONGEST = 20_000;

const PACKAGES: CommandEffect = { why: "it installed or removed packages" };
const DATABASE: CommandEffect = { why: "it may have changed a database" };
const MACHINE: CommandEffect = { why: "it talked to another machine" };
const SERVICES: CommandEffect = { why: "it changed running services or processes" };
const BACKGROUND: CommandEffect = { why: "it may still be running in the background" };
const INFRASTRUCTURE: CommandEffect = { why: "it may have changed containers or infrastructure" };
const GITS_OWN = "it changed git's own state: commits, branches, tags and the stash stay";

const GIT_VERBS: Record<string, CommandEffect> = {
  push: { why: "it pushed to another repository" },
  ...verbs("commit", "commit merge rebase cherry-pick am revert reset pull"),
  ...verbs("branch", "branch switch worktree"),
  ...verbs("tag", "tag"),
  ...verbs("stash", "stash"),
  config: { why: GITS_OWN },
  fetch: MACHINE,
  clone: MACHINE,
};

const PACKAGE_VERBS = new Set(
  "i install ci add remove rm uninstall update upgrade link get sync require tap dist-upgrade".split(" "),
);
const NODE_PACKAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);
const PACKAGERS = new Set(
  "pip pipx uv poetry bundle gem cargo go composer brew apt apt-get dnf yum apk pacman".split(" "),
);
const PROGRAMS: Record<string, CommandEffect> = {
  ...programs(INFRASTRUCTURE, "docker docker-compose podman kubectl helm terraform pulumi"),
  ...programs(DATABASE, "psql mysql mariadb sqlite3 mongo mongosh redis-cli"),
  ...programs(MACHINE, "curl wget ssh scp rsync sftp gh aws gcloud az nc telnet http https"),
  ...programs(SERVICES, "systemctl service crontab launchctl kill pkill killall"),
  ...programs(BACKGROUND, "nohup setsid disown"),
};
const MIGRATION = /^(?:migrate|migrations?:\S+|migrate:\S+|db:(?:create|drop|migrate|push|reset|rollback|seed)\S*)$/;
/** Programs that are only told of such things. */
const READERS = new Set(
  "cat less more head tail ls grep rg ag find echo printf git sed awk wc diff man which".split(" "),
);
/** They run what comes behind them. */
const LAUNCHERS = new Set([...RUNNERS, "npx", "bunx", "pnpx", "exec", "run", "dlx"]);
const MOST_WORDS = 40;

/** A quick look, so that what plainly does nothing of the kind need not be taken apart. */
const SUSPECT = new RegExp(
  String.raw`\b(?:${["git", ...Object.keys(PROGRAMS), ...NODE_PACKAGERS, ...PACKAGERS, ...LAUNCHERS].join("|")}|pip[0-9.]+|python[0-9.]*|(?:ba|z|da)?sh|alembic|migrat\w+|db:\w+)\b|&`,
);

/** Whether there is anything in a command that this file knows of. */
export function maySay(command: string): boolean {
  return command.length <= LONGEST && (SUSPECT.test(command) || command.includes(">") || /\btee\b/.test(command));
}

/** `background`: the agent itself put it there. */
export function effectsOfCommand(command: string, background = false): CommandEffect[] {
  if (command.length > LONGEST) return background ? [BACKGROUND] : [];
  const found = new Map<string, CommandEffect>();
  for (const words of SUSPECT.test(command) ? simpleCommands(command) : []) {
    for (const effect of effectsOfWords(withoutPrefixes(words).slice(0, MOST_WORDS))) found.set(effect.why, effect);
  }
  if (background || staysBehind(command)) found.set(BACKGROUND.why, BACKGROUND);
  return [...found.values()];
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
    if (PACKAGE_VERBS.has(plain[0] ?? "") || (program === "yarn" && rest.length === 0)) return [PACKAGES];
  } else if (PACKAGERS.has(program)) {
    if (LAUNCHERS.has(plain[0] ?? "")) return effectsOfWords(plain.slice(1));
    if (plain.slice(0, 2).some((word) => PACKAGE_VERBS.has(word))) return [PACKAGES];
  } else if (LAUNCHERS.has(program)) {
    const at = rest.findIndex((word) => !word.startsWith("-") && !/^[\d.]+[smhd]?$|=/.test(word));
    return at < 0 ? [] : effectsOfWords(rest.slice(at));
  }
  if (READERS.has(program)) return [];
  if ([program, ...plain].some((word) => MIGRATION.test(word))) return [DATABASE];
  return program === "alembic" && /^(?:upgrade|downgrade)$/.test(plain[0] ?? "") ? [DATABASE] : [];
}

function gitEffects(words: readonly string[]): CommandEffect[] {
  const verb = gitVerb(words);
  const behind = words.slice(words.indexOf(verb) + 1);
  if (verb === "checkout") return behind.some((word) => word === "-b" || word === "-B") ? [made("branch")] : [];
  // These only list.
  if (verb === "branch" && behind.every((word) => word.startsWith("-"))) return [];
  if (verb === "switch" && !behind.some((word) => /^(?:-[cC]|--create)/.test(word))) return [];
  if ((verb === "tag" || verb === "stash" || verb === "worktree") && /^(?:-l|--list|list|show)$/.test(behind[0] ?? ""))
    return [];
  const effect = Object.hasOwn(GIT_VERBS, verb) ? GIT_VERBS[verb] : undefined;
  return effect ? [effect] : [];
}

/** One `&` at a command's end; within quotation marks it is just a sign. */
function staysBehind(command: string): boolean {
  const bare = command.replace(/\\.|'[^']*'|"(?:[^"\\]|\\.)*"/g, "");
  return /(?:^|[^&<>|])&(?![&>\d])/.test(bare);
}

/** Files that a command writes by redirection or with `tee`, as it names them; nothing where it changes directories. */
export function filesWrittenBy(command: string): string[] {
  if (command.length > LONGEST || !/>|\btee\b/.test(command)) return [];
  const commands = simpleCommands(command).map(withoutPrefixes);
  const elsewhere = commands.some((words) => /^(?:cd|pushd|popd)$/.test(programOf(words)));
  const found = commands.flatMap((words) => [...redirections(words), ...teed(words)]);
  return found.filter((path) => isPlain(path) && (!elsewhere || path.startsWith("/")));
}

function redirections(words: readonly string[]): string[] {
  return words.flatMap((word, i) => {
    const match = /^(?:\d*|&)>>?\|?(?!&)(.*)$/.exec(word);
    const target = match ? match[1] || words[i + 1] : undefined;
    return target ? [target] : [];
  });
}

function teed(words: readonly string[]): string[] {
  return programOf(words) === "tee"
    ? words.slice(1).filter((word) => !word.startsWith("-") && !word.includes(">"))
    : [];
}

/** A name, and not something that the shell would still turn into one. */
function isPlain(path: string): boolean {
  return path !== "" && !/[$`*?[\]{}~\0\n]/.test(path) && !path.startsWith("/dev/") && !path.startsWith("&");
}

function made(makes: Made): CommandEffect {
  return { why: GITS_OWN, makes };
}

function verbs(makes: Made, names: string): Record<string, CommandEffect> {
  return Object.fromEntries(names.split(" ").map((name) => [name, made(makes)]));
}

function programs(effect: CommandEffect, names: string): Record<string, CommandEffect> {
  return Object.fromEntries(names.split(" ").map((name) => [name, effect]));
}
