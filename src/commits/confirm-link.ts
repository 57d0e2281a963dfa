/**
 * Implements `commit_linking: prompt`: the user decides whether to link a commit. An editor shows the trailer as a
 * comment; at a terminal Backtrail asks, with a short timeout. Without a terminal, or if an agent commits, it links.
 */
import { readlinkSync } from "node:fs";
import { withCheckpoints, withSuggestion } from "../checkpoints/links/trailers.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession, marked } from "../recording/session/store.ts";
import { ancestorsOf, argumentsOf } from "./ancestry.ts";

/** Null if the user did not answer in time or could not be asked. */
export type Ask = (question: string, seconds: number) => Promise<boolean | null>;

const SECONDS = 10;
/** Values of `commit.cleanup` that leave comments in the message. */
const KEEPING = ["verbatim", "whitespace", "scissors"];

/** The message with the trailer, with the trailer as a comment, or unchanged. */
export async function messageWithOptionalTrailer(
  workspace: Workspace,
  { message, checkpoint, pid, ask }: { message: string; checkpoint: string; pid: number; ask: Ask },
): Promise<string> {
  const linked = withCheckpoints(message, [checkpoint]);
  // git sets GIT_EDITOR to ":" for its hooks if it opens no editor.
  if (process.env["GIT_EDITOR"] !== ":") {
    const comment = await commentCharacter(workspace, pid);
    // If git keeps comments, insert the trailer itself: the user can delete it in the editor.
    return comment === null ? linked : withSuggestion(message, checkpoint, comment);
  }
  if (isAgents(workspace, pid) || !isAtTerminal(pid)) return linked;
  const answer = await ask("Link this commit to its conversation?", SECONDS);
  return answer === false ? message : linked;
}

/** Undefined if it must be detected from the message; null if git keeps comments. */
async function commentCharacter(workspace: Workspace, pid: number): Promise<string | undefined | null> {
  if (argumentsOf(pid).some((word) => word.startsWith("--cleanup"))) return null;
  const pattern = "^(core\\.comment(char|string)|commit\\.cleanup)$";
  const { stdout } = await tryGit(["config", "--get-regexp", pattern], { cwd: workspace.root });
  let found: string | undefined;
  for (const line of stdout.toString("utf8").split("\n")) {
    const [, name = "", value = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (name === "commit.cleanup" && KEEPING.includes(value)) return null;
    if (name.startsWith("core.comment") && value !== "auto" && value !== "") found = value;
  }
  return found;
}

/** Whether an agent makes the commit: a question would disturb the agent's screen. */
function isAgents(workspace: Workspace, pid: number): boolean {
  const ancestors = ancestorsOf(pid);
  return marked(workspace, "open").some((key) => {
    const agent = loadSession(workspace, key)?.process;
    return agent !== undefined && agent !== null && ancestors.has(agent.pid);
  });
}

/** Whether git runs at a terminal. On systems other than Linux, assume so: asking shows whether there is one. */
function isAtTerminal(pid: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    return [0, 2].every((fd) => /^\/dev\/(?:pts\/|tty)/.test(readlinkSync(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return false;
  }
}
