/** Renders sessions as a tree: a line of facts and the prompt for each, with subagents and child sessions below. */
import { oneLine, plural } from "../../../base/text.ts";
import type { SessionNode, SessionStatus, SessionTask } from "../../../run/sessions/model.ts";
import type { Hit } from "../../../run/sessions/search.ts";
import type { Paint, Style } from "../../terminal/io.ts";
import { costWords } from "../layout/amounts.ts";
import { fit, flow } from "../layout/text.ts";
import { age } from "../layout/time.ts";

export interface SessionsView {
  paint: Paint;
  columns: number;
  now: Date;
  ids: ReadonlyMap<SessionNode, string>;
  hits: ReadonlyMap<SessionNode, Hit>;
}

const INDENT = 2;

const COLORS: Readonly<Record<SessionStatus, Style>> = {
  running: "green",
  waiting: "green",
  completed: "dim",
  failed: "red",
  interrupted: "yellow",
  "timed-out": "yellow",
  "over-budget": "yellow",
};

export function sessionTreeLines(nodes: readonly SessionNode[], view: SessionsView): string[] {
  return nodes.flatMap((node) => nodeLines(node, "", view));
}

function nodeLines(node: SessionNode, indent: string, view: SessionsView): string[] {
  const { paint, columns, hits } = view;
  const room = Math.max(20, columns - indent.length - 2);
  const lines = [
    ...headline(node, { ...view, columns: columns - indent.length }),
    `  ${fit(oneLine(node.prompt) || "(no prompt)", room)}`,
  ];
  const hit = hits.get(node);
  if (hit) lines.push(`  ${paint("dim", `${hit.where}:`)} ${fit(oneLine(hit.excerpt), room - 8)}`);
  const below = [
    ...node.tasks.map((task) => [taskLine(task, room - 3, paint)]),
    ...node.children.map((child) => nodeLines(child, `${indent}     `, view)),
  ];
  below.forEach((rows, i) => {
    const isLast = i === below.length - 1;
    rows.forEach((row, k) => {
      const branch = k > 0 ? (isLast ? "   " : "│  ") : isLast ? "└─ " : "├─ ";
      lines.push(`  ${paint("dim", branch)}${row}`.trimEnd());
    });
  });
  return lines;
}

/** The facts of a session, on several lines in a narrow window. */
function headline(node: SessionNode, { paint, columns, now, ids }: SessionsView): string[] {
  const parts = [
    paint("magenta", ids.get(node) ?? oneLine(node.id)),
    paint("dim", age(node.updatedAt, now)),
    paint("cyan", oneLine(node.agent)),
    paint(COLORS[node.status], node.status),
    whatOf(node),
    ...(node.cost ? [paint("dim", costWords(node.cost))] : []),
    ...node.tags.map((tag) => paint("blue", `#${oneLine(tag)}`)),
  ];
  return flow(parts, columns, INDENT).map((line, i) => (i === 0 ? line : `${" ".repeat(INDENT)}${line}`));
}

/** "run, 2 turns, 4 steps" for a session that is both logged and recorded. */
export function whatOf({ log, turns, steps, imported, recorded }: SessionNode): string {
  const parts = [plural(turns, "turn")];
  if (log) parts.unshift("run");
  if (recorded) parts.push(plural(steps, "step"));
  else if (imported) parts.push("imported");
  return parts.join(", ");
}

function taskLine({ type, description, ended, files }: SessionTask, room: number, paint: Paint): string {
  const facts = [ended ? "" : "not finished", files > 0 ? plural(files, "file") : ""].filter((fact) => fact !== "");
  const name = type ? oneLine(type) : "subagent";
  const text = description ? `${name}: ${oneLine(description)}` : name;
  return `${fit(text, room - 16)}${facts.length > 0 ? paint("dim", `  ${facts.join(", ")}`) : ""}`;
}

/** docs/sessions.md specifies this JSON. */
export function sessionJson(node: SessionNode, hit?: Hit) {
  const { log, children, startedAt, updatedAt, ...rest } = node;
  return {
    ...rest,
    startedAt,
    updatedAt,
    log: log?.path ?? null,
    children: children.map(({ id }) => id),
    ...(hit && { match: hit }),
  };
}
