/** A checkpoint and its sessions, as `explain` shows them. Everything in it may come from a stranger. */
import { oneLine, plural, printable, shownPath } from "../../base/text.ts";
import type { Summary, TokenUsage } from "../../checkpoints/layout.ts";
import type { StoredCheckpoint, StoredSession } from "../../checkpoints/read.ts";
import type { Conversation, Entry, Tokens } from "../../transcripts/model.ts";
import { type Cost, estimatedCost, sumOfCosts } from "../../transcripts/prices.ts";
import type { Paint } from "../io.ts";
import { costWords } from "./amounts.ts";
import { tokenLine } from "./step.ts";
import { labelled, section } from "./story.ts";
import { fit, wrap } from "./text.ts";
import { age, moment } from "./time.ts";

export interface CheckpointView {
  paint: Paint;
  columns: number;
  now: Date;
}

const MOST_FILES = 30;

export function checkpointLines(checkpoint: StoredCheckpoint, view: CheckpointView): string[] {
  const { summary, tasks, sessions } = checkpoint;
  const { paint } = view;
  return [
    `${paint("bold", "checkpoint")} ${paint("magenta", checkpoint.id)}`,
    ...labelled("branch", summary.branch ? shownPath(summary.branch) : null, paint),
    ...labelled("strategy", oneLine(summary.strategy), paint),
    ...labelled("tokens", summary.token_usage ? tokenLine(tokensOf(summary.token_usage)) : null, paint),
    ...labelled("cost", summary.token_usage ? costWords(sumOfCosts(sessions.map(spentBy))) : null, paint),
    ...labelled("sessions", plural(sessions.length, "session"), paint),
    ...labelled("subagents", tasks.length > 0 ? plural(tasks.length, "task") : null, paint),
    ...checkpoint.problems.map((problem) => `${paint("yellow", "warning:")} ${printable(problem)}`),
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
    ...labelled("recorded", timeLine(metadata.created_at, now), paint),
    ...labelled("tokens", metadata.token_usage ? tokenLine(tokensOf(metadata.token_usage)) : null, paint),
    ...labelled("cost", metadata.token_usage ? costWords(spentBy(session).cost) : null, paint),
    ...labelled(
      "lines",
      share && share.total_committed > 0
        ? `${share.agent_lines} of ${share.total_committed} by the agent (${Math.round(share.agent_percentage)} %)`
        : null,
      paint,
    ),
  ];
  if (metadata.summary) lines.push(...summaryLines(metadata.summary, view));
  lines.push(...promptLines(prompts, view), ...fileNames(metadata.files_touched, paint));
  return lines.map((line) => (line.length > columns * 4 ? fit(line, columns * 4) : line));
}

export function promptLines(prompts: readonly string[], { paint, columns }: CheckpointView): string[] {
  if (prompts.length === 0) return [];
  const lines = ["", paint("bold", prompts.length === 1 ? "Prompt" : "Prompts")];
  prompts.forEach((prompt, i) => {
    const number = prompts.length === 1 ? "  " : `  ${i + 1}. `;
    const rows = wrap(printable(prompt).trim(), columns - number.length);
    lines.push(...rows.map((row, k) => `${k === 0 ? number : " ".repeat(number.length)}${row}`.trimEnd()));
  });
  return lines;
}

export function fileNames(files: readonly string[], paint: Paint): string[] {
  if (files.length === 0) return [];
  const lines = ["", paint("bold", "Files"), ...files.slice(0, MOST_FILES).map((file) => `  ${shownPath(file)}`)];
  if (files.length > MOST_FILES) lines.push(paint("dim", `  … and ${plural(files.length - MOST_FILES, "more file")}`));
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

/** A checkpoint holds no prices: they are looked up when it is shown. */
export function spentBy({ metadata, record }: StoredSession): { tokens: Tokens | null; cost: Cost | null } {
  const { model, created_at, token_usage } = metadata;
  if (!token_usage) return { tokens: null, cost: null };
  const tokens = tokensOf(token_usage);
  const use = { agent: record?.agent ?? null, model: model ?? null, tokens, time: created_at || null };
  return { tokens, cost: estimatedCost([use]) };
}

export function tokensOf(usage: TokenUsage): Tokens {
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
