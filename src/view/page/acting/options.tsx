/** The options of an action: what a rewind covers, conflict markers, the name of a fork or a saved state. */
import type { PlanRequest, RestorePlanAnswer } from "../../protocol.ts";

interface Props {
  request: PlanRequest;
  onChange(request: PlanRequest): void;
}

export function Options({ request, onChange }: Props) {
  if (request.action === "rewind") {
    const value = request.codeOnly ? "code" : request.chatOnly ? "chat" : "both";
    const set = (next: string) =>
      onChange({ ...request, codeOnly: next === "code" || undefined, chatOnly: next === "chat" || undefined });
    return (
      <fieldset class="choices">
        <legend class="hidden">What goes back</legend>
        {[
          ["both", "Files and conversation"],
          ["code", "Files only"],
          ["chat", "Conversation only"],
        ].map(([key = "", label]) => (
          <label key={key}>
            <input type="radio" name="scope" checked={value === key} onChange={() => set(key)} />
            {label}
          </label>
        ))}
      </fieldset>
    );
  }
  if (request.action === "fork")
    return (
      <label class="choice">
        Branch
        <input
          type="text"
          placeholder="named after the prompt"
          value={request.branch ?? ""}
          onInput={(event) => onChange({ ...request, branch: event.currentTarget.value.trim() || undefined })}
        />
      </label>
    );
  if (request.action === "save")
    return (
      <label class="choice">
        Name
        <input
          type="text"
          placeholder="optional"
          value={request.name ?? ""}
          onInput={(event) => onChange({ ...request, name: event.currentTarget.value || null })}
        />
      </label>
    );
  return null;
}

/** Below the conflicts: the ways on, beside giving up. */
export function ConflictOptions({ request, onChange, answer }: Props & { answer: RestorePlanAnswer }) {
  if (request.action !== "undo" && request.action !== "redo") return null;
  const turns = request.action === "undo" ? request.turns : [];
  const [turn = ""] = turns;
  const later = answer.conflicting.map(({ id }) => id).filter((id) => !turns.includes(id));
  return (
    <div class="ways">
      <label class="choice">
        <input
          type="checkbox"
          checked={request.markers ?? false}
          onChange={(event) => onChange({ ...request, markers: event.currentTarget.checked || undefined })}
        />
        Write the conflicts into the files, between markers
      </label>
      {request.action === "undo" && later.length > 0 && (
        <button type="button" onClick={() => onChange({ ...request, turns: [...request.turns, ...later] })}>
          {later.length === 1 ? "Undo that turn too" : `Undo those ${later.length} turns too`}
        </button>
      )}
      {turns.length === 1 && (
        <button type="button" onClick={() => onChange({ action: "rewind", target: turn, side: "before" })}>
          Rewind to before this turn instead
        </button>
      )}
    </div>
  );
}

/** Whether the agent learns of it, and why it happened. */
export function TellingOptions({ request, onChange, answer: { chat } }: Props & { answer: RestorePlanAnswer }) {
  if (request.action !== "undo" && request.action !== "rewind") return null;
  const tells = request.tellAgent ?? false;
  // If the conversation can't be continued, there is no agent to tell.
  if (!tells && chat.kind === "none" && chat.reason !== "undo-only") return null;
  return (
    <div class="telling">
      <label class="choice">
        <input
          type="checkbox"
          checked={tells}
          onChange={(event) => onChange({ ...request, tellAgent: event.currentTarget.checked || undefined })}
        />
        Tell the agent what was undone
      </label>
      {tells && (
        <input
          type="text"
          aria-label="Why, for the agent"
          placeholder="Why? (optional)"
          value={request.reason ?? ""}
          onInput={(event) => onChange({ ...request, reason: event.currentTarget.value || undefined })}
        />
      )}
    </div>
  );
}
