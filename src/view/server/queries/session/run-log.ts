/** The log of a run, from a byte on, so that a page can follow it while it grows. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { UserError } from "../../../../base/errors.ts";
import { isRecord } from "../../../../base/json.ts";
import { findRunner } from "../../../../run/agents.ts";
import { startOf } from "../../../../run/log/records.ts";
import { RunResult } from "../../../../run/result.ts";
import type { RunLog, RunMoment } from "../../../protocol.ts";
import { inputText } from "../../repository/conversations.ts";
import type { Redaction } from "../../repository/redaction.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";
import { requireNode } from "./session-rows.ts";

const PIECE = 1 << 20;
const MAX_TEXT = 16_000;
const NEWLINE = 10;

export async function runLog({ repository }: Context, query: Query): Promise<RunLog> {
  const id = query.required("id");
  const { log, status } = await requireNode(repository, id);
  if (!log) throw new UserError("not-found", "This session was not a run, and has no log.");
  const redaction = await repository.redaction(query.flag("reveal"));
  const runner = await findRunner(log.agent);
  const result = new RunResult(
    runner?.run.stream ?? { session_id: [], rules: [] },
    runner ? { agent: runner.profile.id, model: null } : null,
  );
  const { lines, next, more } = readLines(log.path, query.number("offset", 0, Number.MAX_SAFE_INTEGER));
  const moments = lines.flatMap((line) => momentsIn(line, result, redaction));
  return { id, running: status === "running", moments: joined(moments), next, more };
}

function momentsIn(line: string, result: RunResult, redaction: Redaction): RunMoment[] {
  const value = parsed(line);
  if (!value) return [];
  const shown = (kind: RunMoment["kind"], text: string, name: string | null = null): RunMoment => ({
    kind,
    name,
    text: redaction.text(text.slice(0, MAX_TEXT)),
  });
  const start = startOf(value);
  if (start) return [shown("prompt", start.prompt)];
  return result.take(value).flatMap((moment): RunMoment[] => {
    if (moment.kind === "tool") return [shown("tool", inputText(moment.input), moment.name)];
    if (moment.kind === "failure") return [shown("failure", moment.text)];
    if (moment.kind === "message" || moment.kind === "delta") return [shown("answer", moment.text)];
    return moment.kind === "end" && moment.text !== null ? [shown("answer", moment.text)] : [];
  });
}

/** A text that arrived in pieces is one moment; the end of a run usually repeats the last answer. */
function joined(moments: readonly RunMoment[]): RunMoment[] {
  const found: RunMoment[] = [];
  for (const moment of moments) {
    const last = found.at(-1);
    if (last?.kind === "answer" && moment.kind === "answer" && last.text === moment.text) continue;
    found.push(moment);
  }
  return found;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whole lines only: the rest of an unfinished one comes next time. */
function readLines(path: string, offset: number): { lines: string[]; next: number; more: boolean } {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.max(0, Math.min(PIECE, size - offset)));
    const read = readSync(fd, bytes, 0, bytes.length, offset);
    const end = bytes.lastIndexOf(NEWLINE, read - 1) + 1;
    // A line longer than a piece is skipped.
    const next = offset + (end === 0 && read === PIECE ? read : end);
    return { lines: bytes.toString("utf8", 0, end).split("\n"), next, more: next < size && read === PIECE };
  } finally {
    closeSync(fd);
  }
}
