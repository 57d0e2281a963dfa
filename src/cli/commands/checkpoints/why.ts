/** `why`: shows the commit, session, turn and prompt behind a line, and what the agent said about it. */

import { now } from "../../../base/clock.ts";
import { oneLine, plural, printable, shorten, shownPath } from "../../../base/text.ts";
import { type Blame, blameFile, type LineStory, type TurnStory } from "../../../checkpoints/blame/blame.ts";
import { explanationForLine } from "../../../checkpoints/blame/line-rationale.ts";
import { findCommit } from "../../../checkpoints/links/history.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { turnKey } from "../../../model/turn.ts";
import type { VisibleTurn } from "../../../team/protocol.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { fit } from "../../render/layout/text.ts";
import { commitLine, labeled, section, storyJson, turnName } from "../../render/line-origin.ts";
import { openRepository } from "../../shared/open-repository.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { whyCommand } from "./commands.ts";
import { filePlace } from "./file-position.ts";

type Options = OptionsOf<typeof whyCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openRepository(io);
  const { path, window } = filePlace(workspace, io.cwd, options.place);
  const blame = await withProgress(io, "Reading the history", () => blameFile(workspace, path, window));
  for (const problem of blame.problems) io.say(`${io.err.paint("yellow", "warning:")} ${printable(problem)}`);
  const [line] = blame.lines;
  if (line && window && window.from === window.to) {
    await one(workspace, path, line, options, io);
    return;
  }
  if (options.json) {
    io.json({ path, turns: groups(blame).map(groupJson) });
    return;
  }
  await page(io, wholeFile(blame, io).join("\n"));
}

async function one(workspace: Workspace, path: string, line: LineStory, options: Options, io: Io): Promise<void> {
  const said = line.turn ? await explanationForLine(workspace, line.turn, path, line.text) : null;
  const team = line.turn || !line.commit ? [] : await turnsOfCommit(workspace, line.commit.id, path);
  if (options.json) {
    io.json({ path, ...storyJson(line), said, ...(team.length > 0 ? { team } : {}) });
    return;
  }
  const { paint, columns } = io.out;
  const { turn, commit } = line;
  const lines = [
    `${paint("bold", `${shownPath(path)}:${line.line}`)}  ${fit(oneLine(line.text), columns - 20)}`,
    "",
    ...labeled("commit", commitLine(commit, now(), paint), paint),
    ...labeled("checkpoint", turn?.checkpoint ?? null, paint),
    ...labeled("written by", turn ? turnName(turn) : writer(line), paint),
    ...labeled("step", turn?.step?.id ?? null, paint),
  ];
  if (turn) {
    if (turn.turn === null)
      lines.push("", "The turn that wrote this line is unknown: no edit in the transcript has it.");
    lines.push(...section(turn.turn === null ? "The session's prompt" : "Prompt", turn.prompt, columns, paint));
    if (said) lines.push(...section("What the agent said when it wrote this", said, columns, paint));
    if (turn.response !== said) lines.push(...section("How the turn ended", turn.response, columns, paint));
  }
  if (team.length > 0) {
    const { teamTurnLines } = await import("../../render/team-turns.ts");
    lines.push("", ...teamTurnLines(team, undefined, io.out, now()));
  }
  await page(io, lines.join("\n"));
}

/** A colleague's turns behind the line's commit that changed this file, from the team's hub. */
async function turnsOfCommit(workspace: Workspace, commit: string, path: string): Promise<VisibleTurn[]> {
  const linked = await findCommit(workspace, commit);
  if (!linked || linked.checkpoints.length === 0) return [];
  const { teamTurns } = await import("./team-turns.ts");
  return (await teamTurns(linked.checkpoints)).filter(({ paths }) => paths?.includes(path));
}

function writer({ commit }: LineStory): string {
  return `${commit ? oneLine(commit.author) : "you"}; no turn of an agent is recorded for it`;
}

interface Group {
  turn: TurnStory | null;
  lines: LineStory[];
}

/** Groups lines by turn, largest group first; lines written by people come last. */
function groups(blame: Blame): Group[] {
  const found = new Map<string, Group>();
  for (const line of blame.lines) {
    const { turn } = line;
    const key = turn ? turnKey(turn) : "";
    const group = found.get(key) ?? { turn, lines: [] };
    group.lines.push(line);
    found.set(key, group);
  }
  return [...found.values()].sort(
    (a, b) => Number(a.turn === null) - Number(b.turn === null) || b.lines.length - a.lines.length,
  );
}

function groupJson({ turn, lines }: Group) {
  const {
    checkpoint,
    agent,
    session,
    turn: number,
    step,
    prompt,
    response,
  } = storyJson({
    line: 0,
    text: "",
    commit: null,
    turn,
  });
  return { checkpoint, agent, session, turn: number, step, prompt, response, lines: lines.map(({ line }) => line) };
}

function wholeFile(blame: Blame, io: Io): string[] {
  const { paint, columns } = io.out;
  const lines = [`${paint("bold", shownPath(blame.path))}  ${plural(blame.lines.length, "line")}`];
  for (const { turn, lines: own } of groups(blame)) {
    const count = plural(own.length, "line");
    lines.push(
      "",
      `${turn ? paint("cyan", turnName(turn)) : "by people"}  ${paint("dim", `${count}: ${ranges(own)}`)}`,
    );
    if (turn?.prompt) lines.push(`  ${fit(oneLine(turn.prompt), columns - 2)}`);
  }
  return lines;
}

/** "1-4, 9, 12-13" */
function ranges(lines: readonly LineStory[]): string {
  const rows: { from: number; to: number }[] = [];
  for (const { line } of lines) {
    const last = rows.at(-1);
    if (last && last.to === line - 1) last.to = line;
    else rows.push({ from: line, to: line });
  }
  const text = rows.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(", ");
  return shorten(text, 60);
}
