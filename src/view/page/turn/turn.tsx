/** One turn: the prompt, the answer, what ran, the exact diff, and what one can do with it. */
import { useState } from "preact/hooks";
import type { TurnDetails, TurnRow } from "../../protocol.ts";
import { ask } from "../acting/action.ts";
import { to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Diff } from "../diff/diff.tsx";
import { CheckTag, CostSum, FateTag, TokenSum } from "../parts/badges.tsx";
import { Copy } from "../parts/copy.tsx";
import { Effects } from "../parts/effects.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { useApp, useHas } from "../shell/context.ts";
import { firstLine, line } from "../text/visible.ts";
import { TurnFacts, TurnFrame } from "./frame.tsx";
import { Tools } from "./tools.tsx";

/** The heading has the beginning of a long prompt; the whole prompt is below. */
const MAX_HEADING = 160;

/** `alone`: the list is not beside it, so there must be a way back. */
export function Turn({ id, alone = false }: { id: string; alone?: boolean }) {
  const [reveal, setReveal] = useState(false);
  const asked = useQuery("turn", { id, ...(reveal ? { reveal: "1" } : {}) }, ["timeline", "operations", "checks"]);
  return (
    <TurnFrame id={id} alone={alone} asked={asked}>
      {(data) => <Details data={data} reveal={reveal} setReveal={setReveal} />}
    </TurnFrame>
  );
}

function Details({ data, reveal, setReveal }: { data: TurnDetails; reveal: boolean; setReveal(value: boolean): void }) {
  const { turn } = data;
  const { exportedAt } = useApp();
  return (
    <div class="turn-columns">
      <div class="turn-story">
        <header class="turn-head">
          <div class="turn-title">
            <h2 tabIndex={-1}>{headingOf(turn)}</h2>
            <Neighbors data={data} />
          </div>
          <Facts data={data} />
          <Actions data={data} />
        </header>
        {turn.broke && <Checks data={data} />}
        <Conversation data={data} />
        <NotUndone data={data} />
        <Tools tools={data.tools} problem={data.noTools} turn={turn} />
        {!turn.broke && <Checks data={data} />}
      </div>
      <Diff key={turn.key} comparison={{ turn: turn.id }} live={turn.open} reveal={reveal}>
        {exportedAt === null && (
          <label class="reveal muted" title="Secrets in texts and in the diff are replaced by placeholders">
            <input type="checkbox" checked={reveal} onChange={(event) => setReveal(event.currentTarget.checked)} />
            Show secrets
          </label>
        )}
      </Diff>
    </div>
  );
}

function headingOf({ prompt }: TurnRow): string {
  return prompt === null ? "(no prompt recorded)" : firstLine(prompt, MAX_HEADING);
}

function Neighbors({ data: { previous, next } }: { data: TurnDetails }) {
  return (
    <nav class="neighbors" aria-label="Neighboring turns">
      {previous !== null && <a href={to("turn", [previous])}>← older</a>}
      {next !== null && <a href={to("turn", [next])}>newer →</a>}
    </nav>
  );
}

function Facts({ data: { turn, commits } }: { data: TurnDetails }) {
  const has = useHas();
  return (
    <p class="facts">
      <TurnFacts turn={turn} />
      {turn.interrupted && <span class="tag warn">interrupted</span>}
      <FateTag fate={turn.fate} />
      <CheckTag check={turn.check} broke={turn.broke} />
      <TokenSum tokens={turn.tokens} />
      <CostSum cost={turn.cost} />
      {commits.map(({ id, subject }) => (
        <a key={id} class="mono" href={has("commit") ? to("commit", [id]) : undefined} title={line(subject, 200)}>
          {id.slice(0, 7)}
        </a>
      ))}
      <span class="mono muted" title="The turn's id: a target for every command">
        {turn.id}
      </span>
    </p>
  );
}

function Actions({ data: { turn, before, after } }: { data: TurnDetails }) {
  const { readOnly } = useApp();
  const has = useHas();
  const moment = after ?? before;
  const undo = turn.fate === "kept";
  return (
    <div class="actions">
      {!readOnly && (
        <>
          <button type="button" onClick={() => ask({ action: "rewind", target: turn.id, side: "before" })}>
            Rewind to before this turn
          </button>
          {undo && (
            <button type="button" onClick={() => ask({ action: "undo", turns: [turn.id] })}>
              Undo this turn
            </button>
          )}
          <button type="button" onClick={() => ask({ action: "fork", target: turn.id })}>
            Fork from here
          </button>
          <button type="button" onClick={() => ask({ action: "rewind", target: turn.id, side: "after" })}>
            Rewind to after it
          </button>
          <button type="button" onClick={() => ask({ action: "resume", session: turn.session })}>
            Resume
          </button>
        </>
      )}
      {moment !== null && has("time") && (
        <a class="button" href={to("time", [], { step: moment })}>
          Browse files
        </a>
      )}
      {!readOnly && undo && (
        <p class="muted actions-note">A rewind also undoes every later turn; an undo takes back this turn only.</p>
      )}
    </div>
  );
}

function Conversation({ data: { turn, prompt, answer } }: { data: TurnDetails }) {
  // A short prompt is the heading already.
  const isLong = prompt !== null && (prompt.length > MAX_HEADING || prompt.trim().includes("\n"));
  return (
    <>
      {isLong && <Bubble label="Prompt" text={prompt} />}
      {answer !== null && answer !== "" && <Bubble label="Answer" text={answer} />}
      {answer === null && turn.open && (
        <p class="muted">
          The agent is working. Its answer and its commands appear when the turn ends; its changes so far are below.
        </p>
      )}
    </>
  );
}

/** A long text scrolls in its own frame, so that the diff stays near. */
const LONG_TEXT = 3_000;

function Bubble({ label, text }: { label: "Prompt" | "Answer"; text: string }) {
  const name = label === "Prompt" ? "bubble prompt-text" : "bubble answer-text";
  const isLong = text.length >= LONG_TEXT;
  return (
    <section class="said" aria-label={label}>
      <h3>{label}</h3>
      {isLong ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
        <div class={`${name} long`} role="group" aria-label={`Text of the ${label.toLowerCase()}`} tabIndex={0}>
          <Markdown text={text} />
        </div>
      ) : (
        <div class={name}>
          <Markdown text={text} />
        </div>
      )}
    </section>
  );
}

function NotUndone({ data: { notUndone, notCaptured } }: { data: TurnDetails }) {
  if (notUndone.length + notCaptured.length === 0) return null;
  return (
    <section class="notice" aria-label="Not undone by a rewind">
      <h3>Not undone by a rewind</h3>
      <Effects
        effects={[...notUndone, ...notCaptured.map(({ path, why }) => ({ kind: "not-captured", what: path, why }))]}
      />
    </section>
  );
}

function Checks({ data: { checks, turn } }: { data: TurnDetails }) {
  const [first] = checks;
  if (!first) return null;
  const words = { pass: "passed", fail: "failed", skip: "skipped" } as const;
  const told = checks.map(({ when, verdict }) => `${words[verdict]} ${when} the turn`).join(", ");
  return (
    <section class={turn.broke ? "checks broken" : "checks"} aria-label="Check">
      <h3>{turn.broke ? "This turn broke the check" : "Check"}</h3>
      <p>
        {checks.map(({ when, verdict }) => (
          <CheckTag key={when} check={verdict} />
        ))}
        <code>{line(first.command, 200)}</code>
        <span class="muted">{told}</span>
        <Copy text={first.command} label="Copy the command" />
      </p>
    </section>
  );
}
