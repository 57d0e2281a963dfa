/** `team status`: the team, what this repository shares, what waits to be sent, and why it waits. */
import { now } from "../../../base/clock.ts";
import { oneLine, plural } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { readMembership } from "../../../team/membership.ts";
import { Outgoing } from "../../../team/outgoing.ts";
import { type Waiting, waitingFor } from "../../../team/send.ts";
import { readShare, type Share } from "../../../team/sharing.ts";
import { readSendState, type SendState } from "../../../team/state.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { age, until } from "../../render/layout/time.ts";
import { labeled } from "../../render/line-origin.ts";
import { failureHint } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamStatusCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamStatusCommand>;

interface Here {
  share: Share | undefined;
  state: SendState;
  waiting: Waiting;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const membership = readMembership();
  const workspace = findWorkspace(io.cwd);
  const here = workspace && isEnabled(workspace) ? await lookAt(workspace) : null;
  if (options.json) {
    const team = membership && {
      url: membership.url,
      person: membership.person,
      role: membership.role,
      device: membership.device,
    };
    io.json({ team: team ?? null, ...(here ? repositoryJson(here) : { repository: null }) });
    return;
  }
  if (!membership) {
    io.print("This machine is not in a team.");
    io.say("Join one with `backtrail team join <link>`.");
    return;
  }
  io.print(`${oneLine(membership.person)} (${membership.role}) in the team at ${membership.url}`);
  if (here) for (const line of repositoryLines(here, membership.role === "reader", io)) io.print(line);
  const failure = here?.state.failure;
  if (failure) io.say(failureHint(failure.kind));
}

async function lookAt(workspace: Workspace): Promise<Here> {
  const share = readShare(workspace);
  const state = readSendState(workspace);
  const outgoing = share ? await Outgoing.open(workspace, share) : null;
  return { share, state, waiting: waitingFor(workspace, share, outgoing, state) };
}

function repositoryJson({ share, state, waiting }: Here) {
  return {
    repository: share?.repository ?? null,
    level: share?.level ?? null,
    since: share?.since ?? null,
    waiting: { turns: waiting.drafts.length, forgotten: waiting.forgotten.length },
    sent: Object.keys(state.sent).length,
    lastSentAt: state.lastSentAt,
    failure: state.failure,
  };
}

function repositoryLines({ share, state, waiting }: Here, isReader: boolean, io: Io): string[] {
  const { paint } = io.out;
  const { failure, lastSentAt } = state;
  const turns = waiting.drafts.length;
  const parts = [
    ...(turns > 0 ? [plural(turns, "turn")] : []),
    ...(waiting.forgotten.length > 0 ? [`${plural(waiting.forgotten.length, "session")} to forget`] : []),
    ...(waiting.announcement ? ["the level that you chose"] : []),
  ];
  const next = failure?.next ? `tried again ${until(failure.next, now())}` : "tried again when you have fixed it";
  const nothing = isReader
    ? "shares nothing: readers of a team send nothing"
    : "shares nothing: `backtrail team share` starts it";
  return [
    ...labeled("repository", share ? oneLine(share.repository) : nothing, paint),
    ...labeled("shares", share ? share.level : null, paint),
    ...labeled("sent", lastSentAt ? age(lastSentAt, now()) : null, paint),
    ...labeled("waiting", parts.length > 0 ? parts.join(", ") : null, paint),
    ...labeled("failed", failure ? `${age(failure.time, now())}: ${oneLine(failure.message)} (${next})` : null, paint),
  ];
}
