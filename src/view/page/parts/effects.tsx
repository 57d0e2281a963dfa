/** What a restore does not undo: each effect, and why it stays. */
import { line, visible } from "../text/visible.ts";

export interface Effect {
  kind?: string | null;
  what: string;
  why: string;
  /** The command that did it. */
  command?: string | null;
}

/** Their `what` is a path; of the others, only commands are code, between backticks. */
const PATHS = new Set(["ignored-file", "outside-file", "left-alone", "not-captured", "unresolved"]);

export function Effects({ effects }: { effects: readonly Effect[] }) {
  return (
    <ul>
      {effects.map((effect, i) => (
        <li key={i}>
          <What effect={effect} />: {visible(effect.why)}
          {effect.command != null && !effect.what.includes(effect.command) && (
            <span class="muted mono"> by {line(effect.command, 200)}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function What({ effect: { kind, what } }: { effect: Effect }) {
  const command = /^`(.*)`$/s.exec(what)?.[1];
  if (command !== undefined || PATHS.has(kind ?? "")) return <code>{line(command ?? what, 300)}</code>;
  return <b>{line(what, 300)}</b>;
}
