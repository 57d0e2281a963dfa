/** Resolves where checkpoints are pushed to and fetched from: a remote's name, or the address of a repository. */

import { hexDigest } from "../../base/digest.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { FarResult } from "../../git/remote.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CheckpointError, type RemoteFailure } from "../problems.ts";

export interface Remote {
  /** The user's name for it, without a password, so that it can be shown and stored. */
  name: string;
  /** The argument for `git push`. */
  pushTo: string;
  /** The address behind `pushTo`, if that is a remote's name. */
  pushAddress: string;
  /** Where to fetch from: with `pushurl` set, the push address rather than the remote's own. */
  fetchFrom: string;
  /** Derived from the address: a remote that gets a new address counts as another remote. */
  key: string;
}

export async function findRemote(workspace: Workspace, text: string): Promise<Remote> {
  if (workspace.kind === "private") throw new CheckpointError("usage", { kind: "nothing-to-sync" });
  if (text === "" || text.startsWith("-") || /\p{Cc}/u.test(text))
    throw new CheckpointError("usage", { kind: "remote-invalid", text });
  const named = async (...options: string[]) => {
    const { code, stdout } = await tryGit(["remote", "get-url", ...options, text], { cwd: workspace.root });
    return code === 0 ? stdout.toString("utf8").split("\n")[0] : undefined;
  };
  const push = await named("--push");
  if (push) {
    const fetch = await named();
    return { name: text, pushTo: text, pushAddress: push, fetchFrom: fetch === push ? text : push, key: keyOf(push) };
  }
  if (!/[/:\\]/.test(text) && text !== "." && text !== "..") {
    const { stdout } = await tryGit(["remote"], { cwd: workspace.root });
    const names = stdout.toString("utf8").split("\n").filter(Boolean).map(oneLine);
    throw new CheckpointError("not-found", { kind: "remote-unknown", text, names });
  }
  return { name: withoutPassword(text), pushTo: text, pushAddress: text, fetchFrom: text, key: keyOf(text) };
}

/** Strips the credentials from `https://ada:secret@host/…`. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/)[^/@\s]*@/g, "$1");
}

const MAX_REASON = 400;

/** What the remote or git reported; null on success. */
export function failureOf(result: FarResult, seconds: number): RemoteFailure | null {
  if (result.ended === "time") return { kind: "timeout", seconds };
  if (result.ended === "size") return { kind: "too-much" };
  if (result.ended === "interrupted") return { kind: "interrupted" };
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
  return said === "" ? { kind: "ended", code: result.code } : { kind: "said", text: shorten(said, MAX_REASON) };
}

function keyOf(address: string): string {
  return hexDigest("sha256", address).slice(0, 16);
}
