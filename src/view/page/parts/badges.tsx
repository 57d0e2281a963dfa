/** Small facts in a row of the timeline, of a turn or of a session. */
import type { Check, Cost, Fate, FileCounts, Tokens } from "../../protocol.ts";
import { useApp } from "../shell/context.ts";
import { age, count, dollars, moment } from "../text/format.ts";
import { line } from "../text/visible.ts";
import { useNow } from "./now.ts";

const HUES = 6;

/** An agent's name in the agent's color; checkpoints may have the agent's display name instead of its id. */
export function Agent({ id: given }: { id: string }) {
  const { agents } = useApp();
  const id = Object.keys(agents).find((known) => agents[known] === given) ?? given;
  let sum = 0;
  for (const char of id) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return (
    <span class={`agent hue-${sum % HUES}`}>
      <span class="dot" aria-hidden="true" />
      {line(agents[id] ?? id, 40)}
    </span>
  );
}

export function Age({ time }: { time: string | null }) {
  const now = useNow();
  if (time === null) return null;
  return (
    <time dateTime={time} title={moment(time)}>
      {age(time, now)}
    </time>
  );
}

export function FateTag({ fate }: { fate: Fate }) {
  if (fate === "kept") return null;
  return <span class={`tag fate-${fate}`}>{fate}</span>;
}

export function CheckTag({ check, broke }: { check: Check | null; broke?: boolean | undefined }) {
  if (check === null) return null;
  if (broke)
    return (
      <span class="tag broke" title="The check passed before this turn and fails after it">
        broke the check
      </span>
    );
  const words = { pass: "check passed", fail: "check failed", skip: "check skipped" } as const;
  const signs = { pass: "✓", fail: "✗", skip: "–" } as const;
  return (
    <span class={`check ${check}`} role="img" aria-label={words[check]} title={words[check]}>
      {signs[check]}
    </span>
  );
}

/** "+2 ~1 −1", as in `backtrail log`. */
export function Files({ files }: { files: FileCounts }) {
  const parts = [
    files.added > 0 ? `+${files.added}` : "",
    files.modified > 0 ? `~${files.modified}` : "",
    files.deleted > 0 ? `−${files.deleted}` : "",
  ].filter((part) => part !== "");
  if (parts.length === 0) return null;
  const total = files.added + files.modified + files.deleted;
  return (
    <span title={`${files.added} added, ${files.modified} changed, ${files.deleted} deleted`}>
      {total === 1 ? "1 file" : `${count(total)} files`}
    </span>
  );
}

export function TokenSum({ tokens }: { tokens: Tokens | null }) {
  if (!tokens) return null;
  const { input, output, cacheRead, cacheWrite } = tokens;
  const all = input + output + cacheRead + cacheWrite;
  if (all === 0) return null;
  const parts = `${count(input)} in, ${count(output)} out, ${count(cacheRead)} from the cache, ${count(cacheWrite)} to the cache`;
  return <span title={parts}>{count(all)} tokens</span>;
}

export function CostSum({ cost }: { cost: Cost | null }) {
  if (!cost) return null;
  return (
    <span title={cost.estimated ? "Estimated from public prices" : "As the agent reported it"}>
      {cost.estimated ? "~" : ""}
      {dollars(cost.usd)}
    </span>
  );
}
