/** `sessions show`: shows one session turn by turn, with its child sessions. */

import { now } from "../../../base/clock.ts";
import { printable, shownPath } from "../../../base/text.ts";
import { requireSession, shortIds } from "../../../run/sessions/find.ts";
import { inOrder, type SessionNode } from "../../../run/sessions/model.ts";
import { type SessionStory, type StoryTurn, storyOf } from "../../../run/sessions/story.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { labeled, section } from "../../render/line-origin.ts";
import { factsOf } from "../../render/session-export/facts.ts";
import { storyJson } from "../../render/session-export/json.ts";
import { sessionTreeLines } from "../../render/sessions/list.ts";
import { type LoadedSessions, loadSessions } from "../../shared/load-sessions.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import type { sessionsShowCommand } from "./commands.ts";

type Options = OptionsOf<typeof sessionsShowCommand>;

const MAX_FILES = 30;

export async function run(options: Options, io: Io): Promise<undefined> {
  const known = await loadSessions(io);
  await showSession(known, requireSession(known.nodes, options.session), options.json === true, io);
}

export async function showSession(known: LoadedSessions, node: SessionNode, json: boolean, io: Io): Promise<void> {
  const story = await storyOf(known.workspace, node);
  if (json) {
    io.json(storyJson(story));
    return;
  }
  const { paint, columns } = io.out;
  const lines = [
    `${paint("bold", "session")} ${paint("magenta", printable(node.id))}`,
    ...factsOf(story).flatMap(([label, value]) => labeled(label, value, paint)),
    ...labeled("log", node.log && shownPath(node.log.path), paint),
    ...story.turns.flatMap((turn) => turnLines(turn, story, io)),
    ...filesOf(story, io),
  ];
  const below = node.children;
  if (below.length > 0) {
    const ids = shortIds(inOrder(known.nodes));
    const view = { paint, columns: columns - 2, now: now(), ids, hits: new Map() };
    lines.push("", paint("bold", "Started by it"), ...sessionTreeLines(below, view).map((line) => `  ${line}`));
  }
  await page(io, lines.join("\n"));
}

function turnLines(turn: StoryTurn, { turns }: SessionStory, io: Io): string[] {
  const { paint, columns } = io.out;
  const number = turns.length === 1 ? "" : ` ${turn.turn}`;
  return [
    ...section(`Prompt${number}`, turn.prompt, columns, paint),
    ...section(`Result${number}`, turn.result, columns, paint),
    ...(turn.failure === turn.result ? [] : section(`Failure${number}`, turn.failure, columns, paint)),
    ...(turn.step === null ? [] : ["", `${paint("dim", "step")}  ${paint("magenta", turn.step)}`]),
  ];
}

function filesOf({ files }: SessionStory, io: Io): string[] {
  if (!files || files.length === 0) return [];
  const more = files.length > MAX_FILES ? [`  … and ${files.length - MAX_FILES} more`] : [];
  return [
    "",
    io.out.paint("bold", "Files"),
    ...files.slice(0, MAX_FILES).map((file) => `  ${shownPath(file)}`),
    ...more,
  ];
}
