/** Where checkpoints are pushed to and fetched from: a remote by its name, or another repository by its address. */
import { hexDigest } from "../../base/digest.ts";
import { UserError } from "../../base/errors.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { FarResult } from "../../git/remote.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";

export interface Remote {
  /** As the user calls it, fit to be shown and stored: without a password. */
  name: string;
  /** What git is given to push to. */
  pushTo: string;
  /** The same place to read from, which `pushurl` may have at another address than the remote's own. */
  fetchFrom: string;
  /** Of the address: a remote that is pointed elsewhere is another one. */
  key: string;
}

export async function findRemote(workspace: Workspace, text: string): Promise<Remote> {
  if (workspace.kind === "private")
    throw new UserError("usage", "This folder is no git repository: it has no checkpoints to sync.");
  if (text === "" || text.startsWith("-") || /\p{Cc}/u.test(text))
    throw new UserError("usage", `"${shorten(oneLine(text), 60)}" is neither a remote nor an address.`);
  const named = async (...options: string[]) => {
    const { code, stdout } = await tryGit(["remote", "get-url", ...options, text], { cwd: workspace.root });
    return code === 0 ? stdout.toString("utf8").split("\n")[0] : undefined;
  };
  const push = await named("--push");
  if (push) {
    const fetch = await named();
    return { name: text, pushTo: text, fetchFrom: fetch === push ? text : push, key: keyOf(push) };
  }
  if (!/[/:\\]/.test(text) && text !== "." && text !== "..") {
    const { stdout } = await tryGit(["remote"], { cwd: workspace.root });
    const names = stdout.toString("utf8").split("\n").filter(Boolean).map(oneLine);
    throw new UserError(
      "not-found",
      `There is no remote "${shorten(oneLine(text), 60)}" here.`,
      names.length > 0 ? `There is ${names.join(", ")}.` : "`git remote add` makes one; an address will do as well.",
    );
  }
  return { name: withoutPassword(text), pushTo: text, fetchFrom: text, key: keyOf(text) };
}

/** `https://ada:secret@host/…` without what is secret in it. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/)[^/@\s]*@/g, "$1");
}

/** What the other side or git said, as one sentence for people. Null where it went well. */
export function refusal(result: FarResult, seconds: number): string | null {
  if (result.ended === "time") return `It did not answer within ${seconds} seconds.`;
  if (result.ended === "size") return "It sends more than a repository of checkpoints can hold.";
  if (result.ended === "interrupted") return "It was interrupted.";
  if (result.code === 0) return null;
  const lines = withoutPassword(result.stderr)
    .split("\n")
    .map(oneLine)
    .filter(
      (line) =>
        line !== "" &&
        !/^(?:hint|To |Everything|Please make sure|and the repository exists|fatal: Could not read from remote)/.test(
          line,
        ),
    );
  const telling = lines.filter((line) => /^(?:fatal|error|remote|ERROR|ssh|!)/i.test(line));
  const said = (telling.length > 0 ? telling : lines).slice(0, 3).join("; ");
  return shorten(said || `git ended with ${result.code}.`, 400);
}

function keyOf(address: string): string {
  return hexDigest("sha256", address).slice(0, 16);
}
