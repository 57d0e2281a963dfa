/**
 * Renders sessions as Markdown. Conversations are fenced so that their text cannot close the fence and pass for ours.
 */
import { oneLine, plural, printable, shownPath } from "../../../base/text.ts";
import type { SessionStory, StoryEntry } from "../../../run/sessions/story.ts";
import { factsOf } from "./facts.ts";

const TITLES: Readonly<Record<StoryEntry["kind"], string>> = {
  prompt: "Prompt",
  answer: "Answer",
  tool: "Tool",
  output: "Output",
  failure: "Failure",
};

export function exportMarkdown(stories: readonly SessionStory[]): string {
  return `${stories.map(storyText).join("\n\n---\n\n")}\n`;
}

function storyText(story: SessionStory): string {
  const parts = [
    `# Session ${code(story.session.id)}`,
    factsOf(story)
      .map(([label, value]) => `- ${label}: ${code(value)}`)
      .join("\n"),
    ...story.entries.map(entryText),
  ];
  if (story.leftOut > 0) parts.push(`_${plural(story.leftOut, "more entry", "more entries")} are left out._`);
  if (story.files && story.files.length > 0) {
    parts.push("## Files", story.files.map((file) => `- ${code(shownPath(file))}`).join("\n"));
  }
  return parts.join("\n\n");
}

function entryText({ kind, text, name }: StoryEntry): string {
  const title = name === null ? TITLES[kind] : `${TITLES[kind]} ${code(name)}`;
  const shown = printable(text).trimEnd();
  return shown === "" ? `## ${title}` : `## ${title}\n\n${fenced(shown)}`;
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([row]) => row.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function code(text: string): string {
  const shown = oneLine(text);
  if (!shown.includes("`")) return `\`${shown}\``;
  const longest = Math.max(...[...shown.matchAll(/`+/g)].map(([row]) => row.length));
  const mark = "`".repeat(longest + 1);
  return `${mark} ${shown} ${mark}`;
}
