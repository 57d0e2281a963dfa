/** `blame`: shows every line of a file with the turn that wrote it. */

import { now } from "../../../base/clock.ts";
import { oneLine, printable, shortSession } from "../../../base/text.ts";
import { blameFile, type LineStory } from "../../../checkpoints/blame/blame.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { fit, pad } from "../../render/layout/text.ts";
import { age } from "../../render/layout/time.ts";
import { SHORT_COMMIT, storyJson } from "../../render/line-origin.ts";
import { openRepository } from "../../shared/open-repository.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { blameCommand } from "./commands.ts";
import { filePlace } from "./file-position.ts";

type Options = OptionsOf<typeof blameCommand>;

const WHO = 30;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openRepository(io);
  const { path, window } = filePlace(workspace, io.cwd, options.place);
  const blame = await withProgress(io, "Reading the history", () => blameFile(workspace, path, window));
  for (const problem of blame.problems) io.say(`${io.err.paint("yellow", "warning:")} ${printable(problem)}`);
  if (options.json) {
    io.json({ path, lines: blame.lines.map(storyJson) });
    return;
  }
  const digits = String(blame.lines.at(-1)?.line ?? 0).length;
  await page(io, blame.lines.map((line) => row(line, digits, io)).join("\n"));
}

function row(story: LineStory, digits: number, io: Io): string {
  const { paint } = io.out;
  const { commit, turn, line, text } = story;
  const id = paint("yellow", pad(commit ? commit.id.slice(0, SHORT_COMMIT) : "-", SHORT_COMMIT));
  const who = pad(fit(turn ? turnOf(story) : personOf(story), WHO), WHO);
  const when = paint("dim", pad(commit ? age(commit.time, now()) : "", 12));
  const code = printable(text).replaceAll("\n", " ");
  return `${id}  ${turn ? paint("cyan", who) : who}  ${when}  ${String(line).padStart(digits)}  ${code}`.trimEnd();
}

function turnOf({ turn }: LineStory): string {
  if (!turn) return "";
  return `${oneLine(turn.agent)} ${shortSession(turn.session)}${turn.turn === null ? "" : ` turn ${turn.turn}`}`;
}

function personOf({ commit }: LineStory): string {
  return commit ? oneLine(commit.author) : "you";
}
