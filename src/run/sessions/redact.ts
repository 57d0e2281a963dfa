/** Removes secrets from a session's story before it is shared. */
import { makeRedaction, openRedaction, type Redaction, redactSession } from "../../checkpoints/write/redaction.ts";
import { isEnabled, type Workspace } from "../../git/workspace.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type RedactionSettings } from "../../transcripts/redact/redactor.ts";
import type { SessionNode } from "./model.ts";
import type { SessionStory } from "./story.ts";

/** Reuses the placeholders of the repository's checkpoints, if it has any. */
export async function storyRedaction(
  workspace: Workspace | undefined,
  settings: RedactionSettings,
): Promise<Redaction> {
  if (workspace && isEnabled(workspace)) return openRedaction(workspace);
  return makeRedaction(await createRedactor(settings), new PlaceholderTable(), "");
}

export function redactedStory(story: SessionStory, redaction: Redaction): Promise<SessionStory> {
  const names = [...(story.files ?? []), ...story.turns.flatMap(({ files }) => files)];
  return redactSession(redaction, names, (own) => redactedWith(story, own));
}

function redactedWith(story: SessionStory, { text, name }: Redaction): SessionStory {
  const entries = story.entries.map((entry) => ({ ...entry, text: text(entry.text) }));
  return {
    ...story,
    session: redactedNode(story.session, text, name),
    turns: story.turns.map((turn) => ({
      ...turn,
      prompt: text(turn.prompt),
      result: text(turn.result),
      failure: turn.failure === null ? null : text(turn.failure),
      files: turn.files.map(name),
    })),
    entries,
    files: story.files?.map(name) ?? null,
  };
}

function redactedNode(node: SessionNode, text: Redaction["text"], name: Redaction["name"]): SessionNode {
  return {
    ...node,
    prompt: text(node.prompt),
    tags: node.tags.map(name),
    worktree: node.worktree === null ? null : name(node.worktree),
    tasks: node.tasks.map((task) => ({
      ...task,
      description: task.description === null ? null : text(task.description),
    })),
    children: node.children.map((child) => redactedNode(child, text, name)),
  };
}
