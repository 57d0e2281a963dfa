/** The sentences for the errors of a run. */
import { oneLine, plural, shorten, shownPath } from "../../../base/text.ts";
import type { RunProblem } from "../../../run/problems.ts";
import { shown, type WordsFor } from "./words.ts";

const OTHER_LOGS = "AIWR_LOG_DIR names another directory for the logs.";

export const RUN_WORDS: WordsFor<RunProblem> = {
  "resume-unsupported-by-run": () => [
    "This agent can't continue a session without a terminal.",
    "Start a new run instead.",
  ],
  "runner-unknown": ({ name, names }) => [
    `Unknown agent: ${name}. Available: ${names.join(", ")}`,
    "Give one of them to --agent.",
  ],
  "runner-missing": ({ name, program, agent }) => [
    `${name} not found in PATH`,
    `${program === name ? "" : `Its program is called ${program}. `}Install ${agent}, or choose another with --agent.`,
  ],
  "runner-not-started": ({ name, program, reason }) => [
    `${name} could not be started (${reason}).`,
    `Its program is ${program}.`,
  ],
  "not-askable": ({ name, names }) => [
    `${name} can't run without tools that change things, and its input may be hostile.`,
    `These can: ${names.join(", ")}.`,
  ],
  "no-answer-in-time": ({ name, seconds }) => [`${name} did not answer within ${seconds} s.`],
  "no-answer": ({ name, reason }) => [`${name} gave no answer${reason === "" ? "." : `: ${shorten(reason, 300)}`}`],
  "answer-not-a-summary": ({ answer }) => [
    "The answer is not a summary.",
    `It began: ${shown(answer, 120) || "(empty)"}`,
  ],

  "session-id-invalid": ({ session }) => [`"${shown(session)}" can't be the id of a session to continue.`],
  "prompt-has-nul": () => ["The prompt contains a NUL byte.", "Pass plain text."],
  "prompt-too-long": ({ bytes, limit }) => [
    `The prompt is too long: ${bytes} bytes, and the system allows ${limit}.`,
    "Write it to a file, and ask the agent to read the file.",
  ],
  "no-prompts": ({ where }) => [
    `There is no prompt in ${where}.`,
    "Write one per line, or separate them by lines of `---`.",
  ],
  "too-many-prompts": ({ where, count, limit }) => [
    `${where} has ${plural(count, "prompt")}; at most ${limit} are run.`,
  ],
  "prompts-too-large": ({ path, bytes }) => [`${shownPath(path)} is too large: ${bytes} bytes.`],
  "prompts-unreadable": ({ path, reason }) => [`${shownPath(path)} can't be read (${reason}).`],
  "not-a-time": ({ text }) => [`"${text}" is not a time.`, "Give something like 90s, 10m or 1h30m."],
  "not-a-budget": ({ text }) => [`"${text}" is not a budget.`, "Give tokens, such as 200k, or dollars, such as $0.50."],
  "not-a-status": ({ text, statuses }) => [`"${text}" is not a status.`, `There are ${statuses.join(", ")}.`],

  "run-session-unknown": ({ text }) => [
    `There is no session "${shown(text)}".`,
    "`backtrail sessions` lists them; the beginning of an id is enough.",
  ],
  "run-session-ambiguous": ({ text, sessions }) => [
    `Several sessions begin with ${oneLine(text)}: ${sessions.slice(0, 5).map(sessionName).join(", ")}`,
    "Give more of the id.",
  ],
  "parent-unknown": ({ id }) => [`Parent session not found: ${id}`, "`--list` shows all sessions."],
  "log-not-writable": ({ logs, code }) => [`Cannot write to ${logs}`, `${whyNotWritable(code)} ${OTHER_LOGS}`],
  "log-refused": ({ reason, hint }) => [reason, hint === undefined ? OTHER_LOGS : `${hint} ${OTHER_LOGS}`],

  "worktree-without-git": () => ["A worktree needs a git repository.", "Leave --worktree out."],
  "worktree-without-commit": () => ["Nothing is committed here yet, so a worktree would be empty.", "Commit first."],
  "worktree-not-made": ({ directory, reason }) => [
    `The worktree could not be made in ${shownPath(directory)}: ${reason}.`,
  ],
};

function sessionName({ id, agent }: { id: string; agent: string | null }): string {
  return agent === null ? oneLine(id) : `${oneLine(id)} (${oneLine(agent)})`;
}

function whyNotWritable(code: string): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "The disk is full.";
  if (code === "EROFS") return "The file system is read-only.";
  if (code === "EACCES" || code === "EPERM") return "Its permissions don't allow it.";
  return `The system says ${code}.`;
}
