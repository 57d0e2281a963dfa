/** Renders a checkpoint and its sessions for `explain`. All content is untrusted. */

import { oneLine, plural, printable, shownPath } from "../../base/text.ts";
import {
  type InitialAttribution,
  lineCount,
  REMOVED,
  type Summary,
  type TokenUsage,
} from "../../checkpoints/format/layout.ts";
import type { StoredCheckpoint, StoredSession } from "../../checkpoints/read/read.ts";
import type { Conversation, Entry } from "../../model/conversation.ts";
import type { Tokens } from "../../model/tokens.ts";
import { type Cost, estimatedCost, sumOfCosts } from "../../transcripts/prices.ts";
import type { Paint } from "../terminal/io.ts";
import { costWords } from "./layout/amounts.ts";
import { fit, wrap } from "./layout/text.ts";
import { age, moment } from "./layout/time.ts";
import { labeled, section } from "./line-origin.ts";
import { tokenLine } from "./step/step.ts";
import { checkpointDefectText } from "./words/checkpoints.ts";

export interface CheckpointView {
  paint: Paint;
  columns: number;
  now: Date;
  /** Whether a turn had already been undone when the checkpoint was committed. */
  isUndone?(turn: RecordedTurnName): boolean;
}

interface RecordedTurnName {
  agent: string;
  session: string;
  turn: number;
  /** When the checkpoint was made; null if it is not committed. */
  committed: string | null;
}

const MAX_FILES = 30;

export function checkpointLines(checkpoint: StoredCheckpoint, view: CheckpointView): string[] {
  const { summary, tasks, sessions } = checkpoint;
  const { paint } = view;
  const [first] = sessions;
  const all = first?.metadata.initial_attribution;
  // Lines from a fork that was taken over belong to an agent, but to none of these sessions.
  const isOneSession = sessions.length === 1 && first && [null, all?.agent_lines].includes(ownLines(first));
  const share = isOneSession ? undefined : all;
  return [
    `${paint("bold", "checkpoint")} ${paint("magenta", checkpoint.id)}`,
    ...labeled("branch", summary.branch ? shownPath(summary.branch) : null, paint),
    ...labeled("strategy", oneLine(summary.strategy), paint),
    ...labeled("tokens", summary.token_usage ? tokenLine(tokensOf(summary.token_usage)) : null, paint),
    ...labeled("cost", summary.token_usage ? costWords(sumOfCosts(sessions.map(spentBy))) : null, paint),
    ...labeled("sessions", plural(sessions.length, "session"), paint),
    ...labeled("lines", share ? shareOf(share.agent_lines, share.total_committed, "agents") : null, paint),
    ...labeled("imported", summary.imported ? `from before${commitWords(summary.commit_sha)}` : null, paint),
    ...labeled("subagents", tasks.length > 0 ? plural(tasks.length, "task") : null, paint),
    ...checkpoint.defects.map((defect) => `${paint("yellow", "warning:")} ${printable(checkpointDefectText(defect))}`),
  ];
}

export function sessionLines(session: StoredSession, view: CheckpointView): string[] {
  const { metadata, prompts } = session;
  const { paint, columns, now } = view;
  const model = metadata.model ? ` (${oneLine(metadata.model)})` : "";
  const share = metadata.initial_attribution;
  const lines = [
    "",
    `${paint("cyan", oneLine(metadata.agent) + model)}  ${oneLine(metadata.session_id)}`,
    ...labeled("recorded", timeLine(metadata.created_at, now), paint),
    ...labeled("tokens", metadata.token_usage ? tokenLine(tokensOf(metadata.token_usage)) : null, paint),
    ...labeled("cost", metadata.token_usage ? costWords(spentBy(session).cost) : null, paint),
    ...Object.entries(metadata.model_usage ?? {}).flatMap(([model, usage]) =>
      labeled("model", `${oneLine(model)}: ${tokenLine(tokensOf(usage))}`, paint),
    ),
    ...labeled("lines", share ? linesBy(session, share) : null, paint),
  ];
  if (metadata.summary) lines.push(...summaryLines(metadata.summary, view));
  if (session.isRemoved) lines.push("", ...wrap(REMOVED, columns));
  lines.push(...promptLines(prompts, view, undonePrompts(session, view)), ...fileNames(metadata.files_touched, paint));
  return lines.map((line) => (line.length > columns * 4 ? fit(line, columns * 4) : line));
}

function commitWords(commit: string | undefined): string {
  return commit === undefined ? "" : ` commit ${commit.slice(0, 12)}`;
}

/** The commit counts the lines of all sessions; the record identifies this session's lines. */
function linesBy(session: StoredSession, share: InitialAttribution): string | null {
  const own = ownLines(session);
  if (own === null) return shareOf(share.agent_lines, share.total_committed, "the agent");
  return shareOf(own, share.total_committed, "this session");
}

/**
 * The number of committed lines that this session wrote; null if its checkpoint only counts the lines of all agents.
 */
export function ownLines({ record }: StoredSession): number | null {
  if (!record) return null;
  return record.attribution.flatMap(({ ranges }) => ranges).reduce((sum, range) => sum + lineCount(range), 0);
}

function shareOf(lines: number, total: number, by: string): string | null {
  return total > 0 ? `${lines} of ${total} by ${by} (${Math.round((lines / total) * 100)} %)` : null;
}

/** Indexes into the session's prompts, one prompt per turn. */
function undonePrompts({ record, prompts, metadata }: StoredSession, { isUndone }: CheckpointView): Set<number> {
  if (!record || !isUndone) return new Set();
  const turns = [...new Set(record.steps.flatMap(({ turn, prompt }) => (prompt === null ? [] : [turn])))];
  if (turns.length !== prompts.length) return new Set();
  const { agent, session } = record;
  const committed = metadata.created_at;
  return new Set(turns.keys().filter((i) => isUndone({ agent, session, turn: turns[i] ?? 0, committed })));
}

function promptLines(
  prompts: readonly string[],
  { paint, columns }: CheckpointView,
  undone: ReadonlySet<number> = new Set(),
): string[] {
  if (prompts.length === 0) return [];
  const lines = ["", paint("bold", prompts.length === 1 ? "Prompt" : "Prompts")];
  prompts.forEach((prompt, i) => {
    const number = prompts.length === 1 ? "  " : `  ${i + 1}. `;
    const mark = undone.has(i) ? " (undone)" : "";
    const rows = wrap(`${printable(prompt).trim()}${mark}`, columns - number.length);
    lines.push(...rows.map((row, k) => `${k === 0 ? number : " ".repeat(number.length)}${row}`.trimEnd()));
  });
  return lines;
}

function fileNames(files: readonly string[], paint: Paint): string[] {
  if (files.length === 0) return [];
  const lines = ["", paint("bold", "Files"), ...files.slice(0, MAX_FILES).map((file) => `  ${shownPath(file)}`)];
  if (files.length > MAX_FILES) lines.push(paint("dim", `  … and ${plural(files.length - MAX_FILES, "more file")}`));
  return lines;
}

export function conversationLines(conversation: Conversation, { paint, columns }: CheckpointView): string[] {
  const lines = ["", paint("bold", "Conversation")];
  for (const entry of conversation.entries) {
    const shown = entryLines(entry, paint, columns);
    if (shown.length > 0) lines.push("", ...shown);
  }
  return lines;
}

/** A checkpoint stores no prices, so they are looked up when it is shown. */
export function spentBy({ metadata, record }: StoredSession): { tokens: Tokens | null; cost: Cost | null } {
  const { model, created_at, token_usage } = metadata;
  if (!token_usage) return { tokens: null, cost: null };
  const tokens = tokensOf(token_usage);
  const use = { agent: record?.agent ?? null, model: model ?? null, tokens, time: created_at || null };
  return { tokens, cost: estimatedCost([use]) };
}

function tokensOf(usage: TokenUsage): Tokens {
  const sub = usage.subagent_tokens ? tokensOf(usage.subagent_tokens) : null;
  return {
    input: usage.input_tokens + (sub?.input ?? 0),
    output: usage.output_tokens + (sub?.output ?? 0),
    cacheRead: usage.cache_read_tokens + (sub?.cacheRead ?? 0),
    cacheWrite: usage.cache_creation_tokens + (sub?.cacheWrite ?? 0),
  };
}

function entryLines(entry: Entry, paint: Paint, columns: number): string[] {
  const text = printable(entry.text).trim();
  const rows = (mark: string) => wrap(text, columns - 2).map((row, i) => `${i === 0 ? mark : " "} ${row}`.trimEnd());
  switch (entry.type) {
    case "prompt":
      return text === "" ? [] : rows(">").map((row) => paint("bold", row));
    case "answer":
      return text === "" ? [] : rows(" ");
    case "tool-use": {
      const files = entry.files.map(shownPath).join(", ");
      return [paint("dim", fit(`  [${oneLine(entry.toolName ?? "tool")}${files ? ` ${files}` : ""}]`, columns))];
    }
    case "compaction":
      return [paint("yellow", "  [the conversation was compacted here]")];
    default:
      return [];
  }
}

function summaryLines(summary: Summary, { paint, columns }: CheckpointView): string[] {
  const list = (title: string, items: readonly string[]) =>
    section(title, items.map((item) => `- ${oneLine(item)}`).join("\n"), columns, paint);
  const code = summary.learnings.code.map(({ path, line, finding }) => {
    return `${shownPath(path)}${line === undefined ? "" : `:${line}`}: ${finding}`;
  });
  return [
    ...section("Intent", summary.intent, columns, paint),
    ...section("Outcome", summary.outcome, columns, paint),
    ...list("Learned", [...summary.learnings.repo, ...code, ...summary.learnings.workflow]),
    ...list("Friction", summary.friction),
    ...list("Left open", summary.open_items),
  ];
}

function timeLine(time: string, now: Date): string | null {
  return time === "" ? null : `${oneLine(moment(time))} (${age(time, now)})`;
}
