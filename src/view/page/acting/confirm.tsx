/** The dialog `Confirm`: makes the plan, shows what it would do, asks once, and applies exactly that plan. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { PlanAnswer, PlanRequest } from "../../protocol.ts";
import { command, RequestError } from "../data/client.ts";
import { onChange } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import { Command } from "../parts/copy.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { announce } from "../shell/announce.ts";
import { asked, receipt } from "./action.ts";
import { Options } from "./options.tsx";
import { ForkPlan, RestorePlanView } from "./plan.tsx";
import { doneLine, meaning, question } from "./words.ts";

/** Milliseconds for which a plan that replaced another one cannot be confirmed. */
const SETTLE = 1_000;

export function ConfirmDialog() {
  const request = useStore(asked);
  return request ? <Open key={JSON.stringify(request)} initial={request} /> : null;
}

function Open({ initial }: { initial: PlanRequest }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [request, setRequest] = useState(initial);
  const busy = useRef(false);
  const { plan, error, notice, fresh, draw, setPlan, setError, setNotice } = usePlan(request, busy);
  const [applying, setApplying] = useState(false);
  const { title, button } = question(request);
  const explained = meaning(request);

  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);

  const close = () => asked.set(null);
  const apply = async () => {
    if (!plan || plan.action === "resume") return close();
    busy.current = true;
    setApplying(true);
    setNotice(null);
    try {
      const answer = await command("apply", { plan: plan.id });
      if (answer.result === "stale") {
        busy.current = false;
        setPlan(answer.plan);
        setNotice("The files changed meanwhile. Nothing was done; this is the plan for the files as they are now.");
        return;
      }
      const done = { request, plan, answer };
      receipt.set(done);
      announce(doneLine(done));
      close();
    } catch (failure) {
      busy.current = false;
      setError(failure instanceof RequestError ? failure : new RequestError("failed", String(failure), null));
    } finally {
      setApplying(false);
    }
  };

  const blocked = plan?.blocked ?? null;
  return (
    <dialog ref={dialog} class="confirm" aria-label="Confirm" onClose={close} onCancel={close}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <div class="confirm-body">
        {notice !== null && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        {explained !== null && <p class="muted meaning">{explained}</p>}
        <Options request={request} onChange={setRequest} />
        {!plan && !error && <Skeleton lines={5} label="Drawing up the plan" />}
        {error && <Problem error={error} retry={() => void draw()} />}
        {plan && !error && <Plan plan={plan} request={request} onChange={setRequest} />}
        {plan && !error && blocked !== null && !("plan" in plan) && (
          <p class="blocked" role="alert">
            {blocked}
          </p>
        )}
      </div>
      <footer>
        <span class="muted only-wide">Nothing changes until you confirm.</span>
        <span class="grow" />
        <button type="button" onClick={close}>
          Cancel
        </button>
        {plan?.action !== "resume" && (
          <button
            type="button"
            class="primary"
            disabled={!plan || fresh || applying || blocked !== null || error !== undefined}
            onClick={() => void apply()}
          >
            {applying ? "Working …" : button}
          </button>
        )}
      </footer>
    </dialog>
  );
}

interface PlanProps {
  plan: PlanAnswer;
  request: PlanRequest;
  onChange(request: PlanRequest): void;
}

function Plan({ plan, request, onChange }: PlanProps) {
  switch (plan.action) {
    case "fork":
      return <ForkPlan plan={plan} />;
    case "save":
      return (
        <>
          <p>The current files and the conversation of the newest session are kept.</p>
          {plan.previous !== null && (
            <p class="muted">
              The name pointed to <span class="mono">{plan.previous}</span> before; that step is kept.
            </p>
          )}
        </>
      );
    case "resume":
      return (
        <>
          <p>Run this in a terminal to continue the conversation:</p>
          <Command text={plan.command} />
        </>
      );
    default:
      return <RestorePlanView answer={plan} request={request} onChange={onChange} />;
  }
}

/** The plan for a request, drawn up again when the request changes, and when files change on disk. */
function usePlan(request: PlanRequest, applying: { current: boolean }) {
  const [plan, setPlan] = useState<PlanAnswer | undefined>();
  /** The request that the plan is for: after a choice, the plan before must not be confirmed. */
  const [drawnFor, setDrawnFor] = useState("");
  const wanted = JSON.stringify(request);
  const [error, setError] = useState<RequestError | undefined>();
  const [notice, setNotice] = useState<string | null>(null);
  const [fresh, setFresh] = useState(false);
  const newest = useRef(0);
  const draw = useCallback(async () => {
    const own = ++newest.current;
    setError(undefined);
    try {
      const answer = await command("plan", request);
      if (own !== newest.current) return;
      setPlan(answer);
      setDrawnFor(wanted);
    } catch (failure) {
      if (own !== newest.current) return;
      setError(failure instanceof RequestError ? failure : new RequestError("failed", String(failure), null));
    }
  }, [wanted]);
  useEffect(() => void draw(), [draw]);
  useEffect(
    () =>
      onChange((topics) => {
        if (!topics.some((topic) => topic === "worktree" || topic === "timeline" || topic === "operations")) return;
        // What the plan itself changes makes no other plan.
        if (applying.current) return;
        setNotice("The files changed meanwhile: the plan was drawn up again.");
        setFresh(true);
        void draw();
      }),
    [draw],
  );
  // A click on the earlier plan must not confirm the plan that just replaced it.
  useEffect(() => {
    if (!fresh) return;
    const timer = setTimeout(() => setFresh(false), SETTLE);
    return () => clearTimeout(timer);
  }, [fresh, plan]);
  return { plan, error, notice, fresh: fresh || drawnFor !== wanted, draw, setPlan, setError, setNotice };
}
