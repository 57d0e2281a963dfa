/** A button that copies a text, usually a command for the terminal. */
import { useState } from "preact/hooks";
import { announce } from "../shell/announce.ts";

export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      announce("Copied");
    } catch {
      announce("The browser did not allow to copy");
    }
  };
  return (
    <button type="button" class="quiet copy" aria-label={label} title={label} onClick={() => void copy()}>
      {done ? "Copied" : "Copy"}
    </button>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <Copy text={text} label="Copy the command" />
    </div>
  );
}
