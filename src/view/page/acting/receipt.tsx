/** The receipt of the last action, with its undo. It stays until it is closed. */
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../data/store.ts";
import { Command } from "../parts/copy.tsx";
import { line, visible } from "../text/visible.ts";
import { ask, receipt } from "./action.ts";
import { doneLine } from "./words.ts";

export function ReceiptCard() {
  const done = useStore(receipt);
  const card = useRef<HTMLElement>(null);
  // The button that began it may be gone by now. After the dialog, which gives the focus back to it.
  useEffect(() => {
    const timer = setTimeout(() => card.current?.focus({ preventScroll: true }));
    return () => clearTimeout(timer);
  }, [done]);
  if (!done) return null;
  const { answer } = done;
  const restored = answer.result === "restored" ? answer.receipt : null;
  const command = restored?.chat?.command ?? (answer.result === "forked" ? answer.fork.command : null);
  const notes = answer.result === "forked" ? answer.notes : (restored?.notes ?? []);
  return (
    <section ref={card} class="receipt" aria-label="Receipt" tabIndex={-1}>
      <header>
        <b>{doneLine(done)}</b>
        <button type="button" class="quiet" aria-label="Close the receipt" onClick={close}>
          ✕
        </button>
      </header>
      {restored?.todo.map((task) => (
        <p key={task} class="notice">
          {visible(task)}
        </p>
      ))}
      {answer.result === "forked" && answer.fork.directory !== null && (
        <p class="mono">{line(answer.fork.directory, 300)}</p>
      )}
      {command !== null && (
        <>
          <p>Continue the conversation with:</p>
          <Command text={command} />
        </>
      )}
      {restored?.openSessions.map(({ session, name, title }) => (
        <p key={session}>
          {line(name, 40)}
          {title === null ? "" : ` ("${line(title, 60)}")`} is still open and knows the earlier state.
        </p>
      ))}
      {restored?.kept.map(({ path, place }) => (
        <p key={path}>
          <span class="mono">{line(path, 200)}</span> was in the way; it is now{" "}
          <span class="mono">{line(place, 300)}</span>.
        </p>
      ))}
      {notes.map((note) => (
        <p key={note} class="muted">
          {visible(note)}
        </p>
      ))}
      {restored?.canTell && (
        <p class="muted">
          The conversation was not changed. "Tell the agent what was undone", in the dialog, adds a notice to a copy of
          it.
        </p>
      )}
      {restored && (
        <p class="muted">
          The previous state is saved as <span class="mono">{restored.safetyStep}</span>.
        </p>
      )}
      {restored && done.plan.action !== "redo" && (
        <button
          type="button"
          onClick={() => {
            receipt.set(null);
            ask({ action: "redo" });
          }}
        >
          Take this back
        </button>
      )}
    </section>
  );
}

function close(): void {
  receipt.set(null);
  document.getElementById("main")?.focus({ preventScroll: true });
}
