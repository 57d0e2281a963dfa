/** The choices of an action: what a rewind covers, conflict markers, the name of a fork or a saved state. */
import type { PlanAnswer, PlanRequest } from "../../protocol.ts";

interface Props {
  request: PlanRequest;
  onChange(request: PlanRequest): void;
  plan: PlanAnswer | undefined;
}

export function Options({ request, onChange, plan }: Props) {
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
  if (request.action === "undo") {
    const inConflict = plan !== undefined && "plan" in plan && plan.plan.conflicts.length > 0;
    if (!inConflict && !request.markers) return null;
    return (
      <label class="choice">
        <input
          type="checkbox"
          checked={request.markers ?? false}
          onChange={(event) => onChange({ ...request, markers: event.currentTarget.checked || undefined })}
        />
        Write the conflicts into the files, between markers
      </label>
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
