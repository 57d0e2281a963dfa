/**
 * The shell command that an agent's hook runs to call us. It never fails (`|| :`), does nothing if Backtrail was
 * removed, and can be recognized later, whatever path it was installed from.
 */
import { basename, isAbsolute } from "node:path";
import { UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import { isAgentId } from "../contract/profile.ts";

/** The program that hooks call: Backtrail, or another host that uses one of our agents. */
export type Program = "backtrail" | "entire";
const OURS: Program = "backtrail";

/** For a settings file of one user on one machine. Independent of PATH and shell profiles. */
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

/** For a shared settings file: finds each user's own program on PATH, and does nothing if there is none. */
export function sharedCommand(agent: string, verb: string, program: Program = OURS): string {
  checkWords(agent, verb);
  return `if command -v ${program} >/dev/null 2>&1; then ${program} hooks ${agent} ${verb} || :; fi`;
}

/**
 * Whether a command is our hook for this agent: one of the two forms above, from any path and version, or the plain
 * call that a user may have typed. A command that does more belongs to the user.
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
 * Whether a hook file contains one of the two forms above, plain or inside a string. A file that merely mentions
 * Backtrail does not match.
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

/** Both words appear unquoted in a shell command, and a profile may come from anyone. */
function checkWords(agent: string, verb: string): void {
  if (isAgentId(agent) && /^[a-z][a-z0-9-]*$/.test(verb)) return;
  throw new UserError("refused", `A profile names a hook that can't be installed: ${shownPath(`${agent} ${verb}`)}.`);
}
