/** What a plan would do, in the words and the order of the command line. */
import { useState } from "preact/hooks";
import type { ConflictingTurn, ForkPlanAnswer, PlanRequest, RestorePlanAnswer } from "../../protocol.ts";
import { to } from "../data/router.ts";
import { Diff } from "../diff/diff.tsx";
import { Agent } from "../parts/badges.tsx";
import { Effects } from "../parts/effects.tsx";
import { clock, plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";
import { asked } from "./action.ts";
import { ConflictOptions, TellingOptions } from "./options.tsx";
import { chatLine, conflictTitle, fileCounts, plannedFiles, turnsTitle } from "./words.ts";

const MAX_FILES = 12;
const MAX_TURNS = 10;

interface Props {
  answer: RestorePlanAnswer;
  request: PlanRequest;
  onChange(request: PlanRequest): void;
}

export function RestorePlanView({ answer, request, onChange }: Props) {
  const { preview, head, restoresIndex, working, proposal } = answer;
  const [compare, setCompare] = useState(false);
  return (
    <div class="plan">
      {proposal && (
        <section aria-label="Reason">
          <blockquote>{visible(proposal.reason)}</blockquote>
          {proposal.isStale && <p class="notice">The files changed since this was proposed. The plan is now:</p>}
        </section>
      )}
      {working.length > 0 && (
        <p class="notice">
          {plural(working.length, "agent")} {working.length === 1 ? "is" : "are"} working in this work tree now.
        </p>
      )}
      <Conflicts answer={answer} request={request} onChange={onChange} />
      <Turns answer={answer} request={request} onChange={onChange} />
      <Files answer={answer} />
      <ul class="plain other">
        {head !== null && (
          <li>
            <b>branch</b> moves from <span class="mono">{head.from.slice(0, 12)}</span> to{" "}
            <span class="mono">{head.to.slice(0, 12)}</span>
          </li>
        )}
        {restoresIndex && (
          <li>
            <b>staged</b> what was staged then, and nothing else
          </li>
        )}
        <li>
          <b>chat</b> {chatLine(answer, "tellAgent" in request && request.tellAgent === true)}
        </li>
      </ul>
      <TellingOptions request={request} onChange={onChange} answer={answer} />
      <NotUndone answer={answer} />
      {preview !== null && (
        <details class="preview" onToggle={(event) => setCompare(event.currentTarget.open)}>
          <summary>Show the changes line by line</summary>
          {compare && <Diff key={answer.id} comparison={preview} title="From the files now to the files afterwards" />}
        </details>
      )}
    </div>
  );
}

function Turns({ answer: { action, plan }, request, onChange }: Props) {
  const { turns, bringsBack = [] } = plan;
  if (turns.length + bringsBack.length === 0) return null;
  const only = turns.length > 1 && request.action === "rewind" && request.side === "before" ? request.target : "";
  return (
    <section>
      {turns.length > 0 && <TurnList title={turnsTitle(action, turns.length)} turns={turns} />}
      {bringsBack.length > 0 && <TurnList title={turnsTitle("redo", bringsBack.length)} turns={bringsBack} />}
      {turns.some(({ id }) => id === only) && (
        <button type="button" class="quiet" onClick={() => onChange({ action: "undo", turns: [only] })}>
          Undo only this turn instead
        </button>
      )}
    </section>
  );
}

function TurnList({ title, turns }: { title: string; turns: RestorePlanAnswer["plan"]["turns"] }) {
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain plan-turns">
        {turns.slice(0, MAX_TURNS).map((turn) => (
          <li key={turn.id + (turn.subagent ?? "")}>
            <Agent id={turn.agent} />
            <span class="muted">
              turn {turn.turn}
              {turn.running ? " (not ended)" : turn.partial ? " (in part)" : ""}
            </span>
            <span>{turn.prompt === null ? "(no prompt recorded)" : line(turn.prompt, 120)}</span>
          </li>
        ))}
        {turns.length > MAX_TURNS && <li class="muted">… and {plural(turns.length - MAX_TURNS, "more turn")}</li>}
      </ul>
    </>
  );
}

function Files({ answer: { plan } }: { answer: RestorePlanAnswer }) {
  const [all, setAll] = useState(false);
  const files = plannedFiles(plan);
  const shown = all ? files : files.slice(0, MAX_FILES);
  const going = plan.yours.filter(({ kept }) => !kept).length;
  return (
    <section>
      <h3>{fileCounts(plan)}</h3>
      {files.length > 0 && (
        <ul class="plain plan-files">
          {shown.map(({ path, sign, change, own }) => (
            <li key={path}>
              <span class={`sign ${change}`}>{sign}</span> <bdi class="mono">{visible(path)}</bdi>
              {own && (
                <span class="own">
                  {own.kept ? `your changes since ${clock(own.since)} stay` : `yours, since ${clock(own.since)}`}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {files.length > shown.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          … and {plural(files.length - shown.length, "more file")}
        </button>
      )}
      {going > 0 && <p class="own-note">Your own changes in {plural(going, "file")} go back too.</p>}
    </section>
  );
}

function NotUndone({ answer: { plan } }: { answer: RestorePlanAnswer }) {
  if (plan.notUndone.length === 0) return null;
  return (
    <section class="notice" aria-label="Not undone">
      <h3>Not undone</h3>
      <Effects effects={plan.notUndone} />
    </section>
  );
}

function Conflicts({ answer, request, onChange }: Props) {
  const { plan, conflicting, blocked } = answer;
  if (plan.conflicts.length === 0 && blocked === null) return null;
  return (
    <section class="conflicts" aria-label="Conflicts">
      <h3>{conflictTitle(answer)}</h3>
      <ul>
        {plan.conflicts.map(({ path, why, turn }) => (
          <li key={path}>
            <bdi class="mono">{visible(path)}</bdi>:{" "}
            <Reason why={why} by={conflicting.find(({ step }) => step === turn)} />
          </li>
        ))}
      </ul>
      {blocked !== null && <p role="alert">{blocked}</p>}
      <ConflictOptions request={request} onChange={onChange} answer={answer} />
    </section>
  );
}

/** Why a file is in conflict, with a link to the turn that the command line names by its id. */
function Reason({ why, by }: { why: string; by: ConflictingTurn | undefined }) {
  const [before = "", after] = by ? why.split(`${by.agent} in turn ${by.step}`) : [];
  if (!by || after === undefined) return <>{visible(why)}</>;
  return (
    <>
      {visible(before)}
      <Agent id={by.agent} /> in{" "}
      <a href={to("turn", [by.id])} onClick={() => asked.set(null)}>
        {by.prompt === null ? "a turn without a recorded prompt" : line(by.prompt, 120)}
      </a>
      {visible(after)}
    </>
  );
}

export function ForkPlan({ plan }: { plan: ForkPlanAnswer }) {
  return (
    <dl class="facts-list">
      <dt>from</dt>
      <dd class="mono">{line(plan.from, 80)}</dd>
      {plan.directory !== null && (
        <>
          <dt>directory</dt>
          <dd class="mono">{line(plan.directory, 300)}</dd>
        </>
      )}
      {plan.branch !== null && (
        <>
          <dt>branch</dt>
          <dd class="mono">{line(plan.branch, 200)}</dd>
        </>
      )}
      <dt>chat</dt>
      <dd>{plan.chat ? "a copy of the conversation that ends there" : "no conversation"}</dd>
    </dl>
  );
}
