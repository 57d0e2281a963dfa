/** What ran in a turn: each tool call folded, with its duration, and a lane that shows when it ran. */
import { useState } from "preact/hooks";
import type { ToolCall, TurnDetails, TurnRow } from "../../protocol.ts";
import { to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { duration, plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";

/** Calls that are drawn at once. */
const AT_ONCE = 40;

const UNKNOWN = {
  "no-transcript": "No transcript was found, so what ran is not known.",
  unreadable: "The conversation of this turn can't be read, so what ran is not known.",
} as const;

interface Props {
  tools: readonly ToolCall[];
  /** Why there are none. */
  problem: TurnDetails["noTools"];
  turn: TurnRow;
}

export function Tools({ tools, problem, turn }: Props) {
  const [shown, setShown] = useState(AT_ONCE);
  if (tools.length === 0) return problem === null ? null : <p class="muted empty-line">{UNKNOWN[problem]}</p>;
  const span = spanOf(tools);
  const lanes = Math.max(...tools.map(({ lane }) => lane)) + 1;
  const failed = tools.filter(({ failed: isFailed }) => isFailed).length;
  return (
    <details class="tools" open={tools.length <= 3}>
      <summary>
        <h3>What ran</h3>
        <span class="muted">
          {plural(tools.length, "call")}
          {lanes > 1 ? `, up to ${lanes} at once` : ""}
          {failed > 0 ? `, ${failed} failed` : ""}
        </span>
      </summary>
      <ol>
        {tools.slice(0, shown).map((tool) => (
          <Call key={tool.id} tool={tool} span={span} turn={turn} />
        ))}
      </ol>
      {tools.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + 200)}>
          Show more of {plural(tools.length, "call")}
        </button>
      )}
    </details>
  );
}

function Call({ tool, span, turn }: { tool: ToolCall; span: Span | null; turn: TurnRow }) {
  const [open, setOpen] = useState(false);
  const subagent = turn.subagents.find(({ id }) => id === tool.subagent);
  return (
    <li class={tool.failed ? "call failed" : "call"}>
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="chevron" aria-hidden="true" />
        <span class={`tool kind-${tool.kind}`}>{line(tool.name, 30)}</span>
        <span class="title mono">{line(tool.title, 300)}</span>
        {tool.failed && <span class="tag failed">failed</span>}
        <Lane tool={tool} span={span} />
        <span class="took muted">{tool.milliseconds === null ? "" : duration(tool.milliseconds)}</span>
      </button>
      {subagent && (
        <a class="sub" href={to("subagent", [subagent.id])}>
          {line(subagent.description ?? "subagent", 100)} →
        </a>
      )}
      {open && <CallBody tool={tool} turn={turn} />}
    </li>
  );
}

function CallBody({ tool, turn }: { tool: ToolCall; turn: TurnRow }) {
  const [whole, setWhole] = useState(false);
  const { data, error } = useQuery("toolCall", whole ? { turn: turn.id, call: tool.id } : null);
  const { input, output } = data ?? tool;
  return (
    <div class="call-body">
      <Block label="Input" text={input} />
      {output !== null && output !== "" && <Block label="Output" text={output} />}
      {tool.shortened && !data && (
        <button type="button" class="quiet" onClick={() => setWhole(true)} disabled={whole && !error}>
          {error ? error.message : "Show all of it"}
        </button>
      )}
      {data?.cut && <p class="muted">Only the first megabyte is shown.</p>}
    </div>
  );
}

function Block({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
    <pre class="code-block" tabIndex={0} role="group" aria-label={label}>
      {broken(visible(text))}
    </pre>
  );
}

/** A line of megabytes would stop the browser. */
function broken(text: string): string {
  return text.length < 4000 ? text : text.replace(/[^\n]{4000}/g, "$&\n");
}

interface Span {
  start: number;
  length: number;
}

/** The time from the first call's start to the last call's end. */
function spanOf(tools: readonly ToolCall[]): Span | null {
  const starts = tools.flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]));
  const ends = tools.flatMap(({ endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt)]));
  if (starts.length === 0 || ends.length === 0) return null;
  const start = Math.min(...starts);
  const length = Math.max(...ends) - start;
  return length > 0 ? { start, length } : null;
}

function Lane({ tool, span }: { tool: ToolCall; span: Span | null }) {
  if (!span || tool.startedAt === null || tool.endedAt === null) return <span class="lane" />;
  const left = ((Date.parse(tool.startedAt) - span.start) / span.length) * 100;
  const width = ((Date.parse(tool.endedAt) - Date.parse(tool.startedAt)) / span.length) * 100;
  return (
    <span class="lane" aria-hidden="true">
      <span
        class={`bar kind-${tool.kind}`}
        style={{
          left: `${Math.min(98, left).toFixed(2)}%`,
          width: `${Math.max(2, Math.min(100 - left, width)).toFixed(2)}%`,
        }}
      />
    </span>
  );
}
