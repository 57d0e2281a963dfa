/**
 * Shows or continues a session that only the search index knows: the agent recorded it, Backtrail did not, or it belongs
 * to another repository.
 */
import { existsSync } from "node:fs";
import { getProfile } from "../../agents/registry/registry.ts";
import { resumeCommand } from "../../agents/shared/resume.ts";
import { UserError } from "../../base/errors.ts";
import { oneLine, printable, shownPath } from "../../base/text.ts";
import { shellText } from "../../model/command.ts";
import { RunError } from "../../run/problems.ts";
import { indexPath } from "../../search/index/open.ts";
import { type IndexedSession, indexedSessions } from "../../search/results/turn-texts.ts";
import { openSearch } from "../../search/search.ts";
import { labeled, section } from "../render/line-origin.ts";
import type { Io } from "../terminal/io.ts";
import { page } from "../terminal/pager.ts";

const MIN_LENGTH = 4;

/** False if the index knows no such session. */
export async function showIndexedSession(id: string, json: boolean, io: Io): Promise<boolean> {
  const found = await indexedSession(id);
  if (!found) return false;
  const { session, agent, repository, title, model, origin } = found.conversation;
  const turns = Map.groupBy(found.texts, ({ turn }) => turn);
  const textIn = (turn: number, field: string) =>
    (turns.get(turn) ?? []).flatMap((one) => (one.field === field ? [one.text] : [])).join("\n\n");
  if (json) {
    const said = [...turns.keys()].map((turn) => ({
      turn,
      prompt: textIn(turn, "prompt"),
      result: textIn(turn, "answer"),
    }));
    io.json({ session, agent, repository, title, model, turns: said });
    return true;
  }
  const { paint, columns } = io.out;
  const number = (turn: number) => (turns.size === 1 ? "" : ` ${turn}`);
  const lines = [
    `${paint("bold", "session")} ${paint("magenta", printable(session))}`,
    ...labeled("agent", oneLine(agent), paint),
    ...labeled("model", model && oneLine(model), paint),
    ...labeled("repository", repository && shownPath(repository), paint),
    ...labeled("title", title && oneLine(title), paint),
    ...labeled("transcript", existsSync(origin) ? shownPath(origin) : "deleted by the agent", paint),
    ...[...turns.keys()].flatMap((turn) => [
      ...section(`Prompt${number(turn)}`, textIn(turn, "prompt"), columns, paint),
      ...section(`Result${number(turn)}`, textIn(turn, "answer"), columns, paint),
    ]),
  ];
  await page(io, lines.join("\n"));
  return true;
}

/** Says how the agent continues it. False if the index knows no such session. */
export async function resumeIndexedSession(id: string, json: boolean, io: Io): Promise<boolean> {
  const found = await indexedSession(id);
  if (!found) return false;
  const { session, agent, repository, title, origin } = found.conversation;
  const profile = await getProfile(agent);
  if (!profile || !existsSync(origin)) {
    throw new UserError(
      "not-found",
      `The agent deleted the conversation of ${session}, and Backtrail did not record it.`,
      "`backtrail show` with its id shows what the search index still has.",
    );
  }
  const start = { ...resumeCommand(profile, session), cwd: repository };
  const command = shellText(start);
  if (command === "") throw new UserError("failed", `${profile.display_name} can't continue a session by its id.`);
  if (json) {
    const chat = { agent, session, transcript: origin, command, start };
    io.json({ chat, written: null, kept: null, notes: [], facts: [], session });
    return true;
  }
  io.print(io.out.paint("bold", `${profile.display_name}: `) + oneLine(title ?? found.texts[0]?.text ?? session));
  io.print(`\nContinue the conversation with:\n  ${io.out.paint("bold", printable(command))}`);
  return true;
}

async function indexedSession(id: string): Promise<IndexedSession | undefined> {
  if (id.length < MIN_LENGTH || !existsSync(indexPath())) return undefined;
  const opened = await openSearch();
  try {
    const found = indexedSessions(opened.index, id);
    if (found.length <= 1) return found[0];
    const sessions = found.map(({ conversation: { agent, session } }) => ({ agent, id: session }));
    throw new RunError("usage", { kind: "run-session-ambiguous", text: id, sessions });
  } finally {
    opened.close();
  }
}
