/** `team preview [level]`: the documents that would be sent, exactly as they would be. Sends nothing. */
import { oneLine, plural, printable, shorten } from "../../../base/text.ts";
import { readMembership } from "../../../team/membership.ts";
import { Outgoing } from "../../../team/outgoing.ts";
import type { SharedTurn } from "../../../team/protocol.ts";
import { waitingFor } from "../../../team/send.ts";
import { readShare, repositoryName, type Share } from "../../../team/sharing.ts";
import { blankState, readSendState } from "../../../team/state.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { moment } from "../../render/layout/time.ts";
import { requireLevel, teamWorkspace } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamPreviewCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamPreviewCommand>;

const LIMIT = 20;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = teamWorkspace(io);
  const current = readShare(workspace);
  const share: Share = current ?? {
    v: 1,
    level: "counts",
    repository: await repositoryName(workspace),
    chosenAt: "",
    since: null,
  };
  const level = options.level === undefined ? share.level : requireLevel(options.level);
  const outgoing = await Outgoing.open(workspace, { ...share, level });
  const state = options.all ? blankState() : readSendState(workspace);
  const { drafts } = waitingFor(workspace, share, outgoing, state);
  const limit = options.limit ?? LIMIT;
  const turns = await outgoing.documents(limit === 0 ? drafts : drafts.slice(-limit));
  if (options.json) {
    io.json({ repository: share.repository, level, shared: current !== undefined, waiting: drafts.length, turns });
    return;
  }
  for (const turn of turns) for (const line of turnLines(turn)) io.print(line);
  const whole = turns.length < drafts.length ? `; the newest ${turns.length} are shown` : "";
  io.say(
    `${plural(drafts.length, "turn")} of ${oneLine(share.repository)} would be sent at the level ${level}${whole}.`,
  );
  if (readMembership()?.role === "reader") io.say("Nothing is sent now: you are a reader, and readers send nothing.");
  else if (!current) io.say("Nothing is sent now: this repository is not shared. Start with `backtrail team share`.");
  if (turns.length > 0) io.say("`--json` shows the documents themselves.");
}

function turnLines(turn: SharedTurn): string[] {
  const { tokens, text, messages } = turn;
  const counts = [
    moment(turn.startedAt),
    oneLine(turn.agent),
    oneLine(turn.model ?? "unknown model"),
    plural(turn.fileCount, "file"),
    ...(tokens ? [`${tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite} tokens`] : []),
    turn.status,
  ];
  return [
    counts.join("  "),
    ...(text ? [`  session ${oneLine(text.session)}, turn ${turn.turn}`] : []),
    ...(text?.prompt
      ? printable(text.prompt)
          .split("\n")
          .map((line) => `  > ${line}`)
      : []),
    ...(text?.paths.map((path) => `  ${oneLine(path)}`) ?? []),
    ...(messages?.map(
      ({ kind, tool, text: said }) =>
        `  ${tool === null ? kind : `${kind} ${oneLine(tool)}`}: ${shorten(oneLine(said), 200)}`,
    ) ?? []),
  ];
}
