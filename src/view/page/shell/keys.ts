/** Keys that work without a modifier, wherever the focus is, unless a person is typing or a dialog is open. */
import { useEffect } from "preact/hooks";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const stack: { keys: Keys }[] = [];

/** The newest screen that knows a key has it. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    const own = { keys };
    stack.push(own);
    return () => {
      stack.splice(stack.indexOf(own), 1);
    };
  });
}

export function startKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const action = stack.findLast(({ keys }) => Object.hasOwn(keys, event.key))?.keys[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "range" && target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
