/**
 * The command by which an agent calls us: never a failure (`|| :`), silent where Backtrail has gone, independent of PATH
 * and shell profiles, and recognised again later, whatever the place it was installed from.
 */
import { basename, isAbsolute } from "node:path";
import { UserError } from "../base/errors.ts";
import { shownPath } from "../base/text.ts";
import { isAgentId } from "./profile.ts";

/** What hooks call: ourselves, or the other host that an agent of ours is lent to. */
export type Program = "backtrail" | "entire";
const OURS: Program = "backtrail";

/** For a settings file of one user on one machine. */
export function localCommand(executable: string, agent: string, verb: string): string {
  checkWords(agent, verb);
  if (!isAbsolute(executable) || !isNamed(executable, OURS) || /\p{Cc}/u.test(executable)) {
    throw new UserError(
      "refused",
      `Hooks can't call ${shownPath(executable)}: they need the absolute path of an executable named backtrail.`,
      "Run the installed `backtrail` itself.",
    );
  }
  const quoted = `"${executable.replace(/[\\"$`]/g, "\\$&")}"`;
  return `[ ! -x ${quoted} ] || ${quoted} hooks ${agent} ${verb} || :`;
}

/** For a settings file that colleagues share: each finds their own Backtrail, or nothing happens. */
export function sharedCommand(agent: string, verb: string, program: Program = OURS): string {
  checkWords(agent, verb);
  return `if command -v ${program} >/dev/null 2>&1; then ${program} hooks ${agent} ${verb} || :; fi`;
}

/**
 * Whether a command is one of ours for this agent: one of the two forms above from any place and version, or the plain
 * call that a person may have typed. A command that does more than that is the user's own.
 */
export function isOurCommand(command: string, agent: string, program: Program = OURS): boolean {
  const guarded =
    /^\[ ! -x "((?:[^"\\]|\\.)*)" \] \|\| "((?:[^"\\]|\\.)*)" hooks (\S+) [a-z][a-z0-9-]*(?: \|\| :)?$/.exec(command);
  if (guarded) {
    return guarded[1] === guarded[2] && guarded[3] === agent && isNamed(unquoted(guarded[1] ?? ""), program);
  }
  const shared = /^if command -v (\S+) >\/dev\/null 2>&1; then (\S+) hooks (\S+) [a-z][a-z0-9-]*(?: \|\| :)?; fi$/.exec(
    command,
  );
  if (shared) return shared[1] === program && shared[2] === program && shared[3] === agent;
  const plain = /^("(?:[^"\\]|\\.)*"|[^\s"'`$;&|<>()]+) hooks (\S+) [a-z][a-z0-9-]*$/.exec(command.trim());
  return plain?.[2] === agent && isNamed(unquoted((plain[1] ?? "").replace(/^"(.*)"$/, "$1")), program);
}

/**
 * Whether a file that we generate for this agent holds one of the two forms above, as it is or within a string. Somebody
 * who only writes about us is not taken for us.
 */
export function holdsOurCommand(text: string, agent: string, program: Program = OURS): boolean {
  if (!isAgentId(agent)) return false;
  const local = '\\|\\| \\\\*"[^\\n]*backtrail(?:\\.exe)?\\\\*"';
  const shared = `>/dev/null 2>&1; then ${program}`;
  const forms = program === OURS ? `(?:${local}|${shared})` : shared;
  return new RegExp(`${forms} hooks ${agent} [a-z]`, "i").test(text);
}

function unquoted(text: string): string {
  return text.replace(/\\([\\"$`])/g, "$1");
}

function isNamed(path: string, program: Program): boolean {
  return (
    basename(path.replaceAll("\\", "/"))
      .toLowerCase()
      .replace(/\.exe$/, "") === program
  );
}

/** Both stand in a shell command without quotes, and a profile may be anybody's. */
function checkWords(agent: string, verb: string): void {
  if (isAgentId(agent) && /^[a-z][a-z0-9-]*$/.test(verb)) return;
  throw new UserError("refused", `A profile names a hook that can't be installed: ${shownPath(`${agent} ${verb}`)}.`);
}
