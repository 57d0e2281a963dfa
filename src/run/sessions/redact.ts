/** A story without secrets, for whoever it is given to. */
import { openRedaction } from "../../checkpoints/redacted.ts";
import { isEnabled, type Workspace } from "../../git/workspace.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type RedactionSettings } from "../../transcripts/redact/redactor.ts";
import type { SessionNode } from "./model.ts";
import type { SessionStory } from "./story.ts";

export type RedactText = (text: string) => string;

/** With the placeholders of the repository's checkpoints, where it has them. */
export async function textRedactor(workspace: Workspace | undefined, settings: RedactionSettings): Promise<RedactText> {
  if (workspace && isEnabled(workspace)) return (await openRedaction(workspace)).text;
  const redactor = await createRedactor(settings);
  const placeholders = new PlaceholderTable();
  return (text) => redactor.redact(text, { placeholders, format: "text" }).bytes.toString("utf8");
}

export function redactedStory(story: SessionStory, redact: RedactText): SessionStory {
  return {
    ...story,
    session: redactedNode(story.session, redact),
    turns: story.turns.map((turn) => ({
      ...turn,
      prompt: redact(turn.prompt),
      result: redact(turn.result),
      failure: turn.failure === null ? null : redact(turn.failure),
    })),
    entries: story.entries.map((entry) => ({ ...entry, text: redact(entry.text) })),
  };
}

function redactedNode(node: SessionNode, redact: RedactText): SessionNode {
  return {
    ...node,
    prompt: redact(node.prompt),
    tasks: node.tasks.map((task) => ({
      ...task,
      description: task.description === null ? null : redact(task.description),
    })),
    children: node.children.map((child) => redactedNode(child, redact)),
  };
}
