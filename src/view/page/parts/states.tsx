/** Empty, loading and failed states, the same on every screen. */
import type { ComponentChildren } from "preact";
import type { RequestError } from "../data/client.ts";

/** Gray bars in place of loading content. They appear only after a moment, so that fast answers do not flicker. */
export function Skeleton({ lines, label }: { lines: number; label: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} class={`bar bar-${i % 4}`} />
      ))}
    </div>
  );
}

export function Problem({ error, retry }: { error: RequestError; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{error.message}</p>
      {error.hint !== null && <p class="muted">{error.hint}</p>}
      {retry && error.kind !== "not-found" && error.kind !== "signed-out" && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
