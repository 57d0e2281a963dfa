/**
 * `commit_linking: prompt`: whoever commits says whether the commit is linked. In an editor the trailer stands there as a comment; at a
 * terminal there is a question, which does not wait long; where nobody can answer, or an agent commits, it is linked.
 */
import { readlinkSync } from "node:fs";
import { withCheckpoints, withSuggestion } from "../checkpoints/trailers.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { ancestorsOf, argumentsOf } from "./ancestry.ts";
import { loadSession, marked } from "./session-state.ts";

/** Null where nobody answered in time, or nobody could be asked. */
export type Ask = (question: string, seconds: number) => Promise<boolean | null>;

const SECONDS = 10;
/** Ways of cleaning a message up that leave comments in it. */
const KEEPING = ["verbatim", "whitespace", "scissors"];

/** The message with the trailer, with the trailer as a comment, or as it was. */
export async function offeredMessage(
  workspace: Workspace,
  { message, checkpoint, pid, ask }: { message: string; checkpoint: string; pid: number; ask: Ask },
): Promise<string> {
  const linked = withCheckpoints(message, [checkpoint]);
  // git says so to its hooks where it opens no editor.
  if (process.env["GIT_EDITOR"] !== ":") {
    const comment = await commentCharacter(workspace, pid);
    // Comments that stay would be part of the message; in the editor the line itself can be taken out.
    return comment === null ? linked : withSuggestion(message, checkpoint, comment);
  }
  if (isAgents(workspace, pid) || !isAtTerminal(pid)) return linked;
  const answer = await ask("Link this commit to its conversation?", SECONDS);
  return answer === false ? message : linked;
}

/** `undefined` where the message itself shows it; null where comments are kept. */
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

/** An agent commits by itself: a question would go into the middle of its screen. */
function isAgents(workspace: Workspace, pid: number): boolean {
  const ancestors = ancestorsOf(pid);
  return marked(workspace, "open").some((key) => {
    const agent = loadSession(workspace, key)?.process;
    return agent !== undefined && agent !== null && ancestors.has(agent.pid);
  });
}

/** Whether git itself talks to a terminal; where the system does not tell, whether there is one is found out by asking. */
function isAtTerminal(pid: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    return [0, 2].every((fd) => /^\/dev\/(?:pts\/|tty)/.test(readlinkSync(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return false;
  }
}
