/** `export`: writes a session, without its secrets, into one file for others. */

import { resolve } from "node:path";
import { shownPath } from "../../../base/text.ts";
import { requireSession } from "../../../run/sessions/find.ts";
import { inOrder } from "../../../run/sessions/model.ts";
import { redactedStory, storyRedaction } from "../../../run/sessions/redact.ts";
import { type SessionStory, storyOf } from "../../../run/sessions/story.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { exportHtml } from "../../render/session-export/html.ts";
import { exportJson } from "../../render/session-export/json.ts";
import { exportMarkdown } from "../../render/session-export/markdown.ts";
import { loadSessions } from "../../shared/load-sessions.ts";
import { settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import { requireFree, writeOutput } from "../../terminal/output-file.ts";
import type { exportCommand } from "../run/commands.ts";

type Options = OptionsOf<typeof exportCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await loadSessions(io);
  const session = requireSession(nodes, options.session);
  const path = options.output === undefined ? undefined : resolve(io.cwd, options.output);
  if (path !== undefined) requireFree(path, options.yes);
  const redaction = options.raw ? undefined : await storyRedaction(workspace, settingsOf(workspace).config.redaction);
  const stories: SessionStory[] = [];
  for (const node of options.tree ? inOrder([session]) : [session]) {
    const story = await storyOf(workspace, node);
    stories.push(redaction ? await redactedStory(story, redaction) : story);
  }
  const text = textOf(options.format ?? formatOf(path), stories, redaction !== undefined);
  if (path === undefined) io.out.write(text);
  else {
    writeOutput(path, text, options.yes);
    io.say(`Written to ${shownPath(path)}.`);
  }
}

function textOf(format: "md" | "html" | "json", stories: readonly SessionStory[], redacted: boolean): string {
  if (format === "json") return exportJson(stories, redacted);
  return format === "html" ? exportHtml(stories) : exportMarkdown(stories);
}

/** Derives the format from the file name. */
function formatOf(path: string | undefined): "md" | "html" | "json" {
  const ending = /\.(html|json)$/.exec(path ?? "")?.[1];
  return ending === "html" || ending === "json" ? ending : "md";
}
