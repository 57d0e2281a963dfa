/** Renders sessions as one self-contained HTML file: no scripts, no links, everything escaped. */
import { oneLine, plural, printable, shorten, shownPath } from "../../../base/text.ts";
import type { SessionStory, StoryEntry } from "../../../run/sessions/story.ts";
import { factsOf } from "./facts.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.2rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { opacity: .6; } dd { margin: 0; overflow-wrap: anywhere; }
section { border-left: 3px solid #8888; padding-left: .8rem; margin: 1rem 0; }
section.prompt { border-color: #36c; } section.failure { border-color: #c33; }
h2 { font-size: .8rem; margin: 0; opacity: .6; font-weight: 600; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0; font: inherit; }
.tool pre, .output pre { font: 13px/1.4 ui-monospace, monospace; }
summary { cursor: pointer; font-size: .8rem; opacity: .7; }
hr { margin: 3rem 0; }
`;

export function exportHtml(stories: readonly SessionStory[]): string {
  const title = escaped(shorten(oneLine(stories[0]?.session.prompt ?? ""), 80) || "Session");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Backtrail">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
${stories.map(storyHtml).join("\n<hr>\n")}
</body>
</html>
`;
}

function storyHtml(story: SessionStory): string {
  const facts = factsOf(story).map(([label, value]) => `<dt>${escaped(label)}</dt><dd>${escaped(value)}</dd>`);
  const files = (story.files ?? []).map((file) => `<li>${escaped(shownPath(file))}</li>`);
  return [
    `<h1>Session ${escaped(oneLine(story.session.id))}</h1>`,
    `<dl>${facts.join("")}</dl>`,
    ...story.entries.map(entryHtml),
    ...(story.leftOut > 0 ? [`<p>${plural(story.leftOut, "more entry", "more entries")} are left out.</p>`] : []),
    ...(files.length > 0 ? [`<h2>Files</h2><ul>${files.join("")}</ul>`] : []),
  ].join("\n");
}

function entryHtml({ kind, text, name }: StoryEntry): string {
  const shown = `<pre>${escaped(printable(text).trimEnd())}</pre>`;
  if (kind !== "tool" && kind !== "output") return `<section class="${kind}"><h2>${kind}</h2>${shown}</section>`;
  const title = name === null ? kind : `${kind} ${escaped(oneLine(name))}`;
  return `<section class="${kind}"><details><summary>${title}</summary>${shown}</details></section>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
