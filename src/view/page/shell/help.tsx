/** The list of keys, as a dialog. */
import { useEffect, useRef } from "preact/hooks";
import { go, to } from "../data/router.ts";
import { createStore, useStore } from "../data/store.ts";
import { useHas } from "./context.ts";
import { useKeys } from "./keys.ts";

const shown = createStore(false);

export function showHelp(): void {
  shown.set(true);
}

const KEYS = [
  ["j, k", "next and previous turn"],
  ["g, G", "newest and oldest turn"],
  ["Enter", "open the turn"],
  ["Esc", "back to the timeline"],
  ["n, p", "next and previous file of the diff"],
  ["/", "search"],
  ["t", "files in time"],
  ["?", "this list"],
] as const;

export function HelpDialog() {
  const open = useStore(shown);
  const has = useHas();
  useKeys({
    "?": showHelp,
    ...(has("time") && { t: () => go(to("time")) }),
    Escape: () => go(to("")),
    n: () => nextFile(1),
    p: () => nextFile(-1),
  });
  return open ? <Keys /> : null;
}

function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => shown.set(false);
  const has = useHas();
  const keys = KEYS.filter(([key]) => (key !== "/" || has("search")) && (key !== "t" || has("time")));
  return (
    <dialog ref={dialog} class="help" aria-label="Keyboard shortcuts" onClose={close}>
      <header>
        <h2>Keyboard shortcuts</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <dl>
        {keys.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(", ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

function nextFile(by: number): void {
  const files = [...document.querySelectorAll<HTMLElement>(".diff .file")];
  const focused = files.findIndex((file) => file.contains(document.activeElement));
  const target = files[focused < 0 ? 0 : Math.max(0, Math.min(files.length - 1, focused + by))];
  target?.scrollIntoView({ block: "start" });
  target?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
}
