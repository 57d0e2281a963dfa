/** Shared by the team commands: the workspace, the hub's client, and the hub's errors in words. */
import { UserError } from "../../base/errors.ts";
import { logTo } from "../../base/log.ts";
import { isEnabled, requireWorkspace, type Workspace } from "../../git/workspace.ts";
import { HubClient, HubError } from "../../team/client.ts";
import { LEVELS, type Level } from "../../team/levels.ts";
import { type Membership, requireMembership } from "../../team/membership.ts";
import type { FailureKind } from "../../team/state.ts";
import type { Io } from "../terminal/io.ts";

export function teamWorkspace(io: Io): Workspace {
  const workspace = requireWorkspace(io.cwd);
  if (isEnabled(workspace)) logTo(workspace.storeDir);
  return workspace;
}

export function hubOf({ url, token }: Membership): HubClient {
  return new HubClient(url, token);
}

/** Asks the hub something; its errors become messages with a hint. */
export async function ask<T>(work: (hub: HubClient) => Promise<T>): Promise<T> {
  try {
    return await work(hubOf(requireMembership()));
  } catch (error) {
    throw asUserError(error);
  }
}

const HINTS: Readonly<Record<FailureKind, string>> = {
  unreachable: "Recording continues, and waiting turns are sent later.",
  busy: "Try again in a moment.",
  revoked: "Ask for a new invitation, then `backtrail team leave` and `backtrail team join <link>`.",
  refused: "`backtrail team status` shows what is shared.",
  outdated: "The versions of the hub and of this machine don't match: update the older one.",
};

export function asUserError(error: unknown): unknown {
  if (!(error instanceof HubError)) return error;
  return new UserError("failed", error.message, HINTS[error.kind]);
}

export function failureHint(kind: FailureKind): string {
  return HINTS[kind];
}

export function requireLevel(text: string, others: readonly string[] = []): Level {
  if (LEVELS.includes(text as Level)) return text as Level;
  throw new UserError("usage", `There is no level "${text}".`, `It is one of ${[...LEVELS, ...others].join(", ")}.`);
}
