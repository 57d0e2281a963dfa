/** `export`: a session as one file for somebody else, without its secrets. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { codeOf, UserError } from "../../base/errors.ts";
import { writeFileAtomic } from "../../base/files.ts";
import { shownPath } from "../../base/text.ts";
import { requireSession } from "../../run/sessions/find.ts";
import { inOrder } from "../../run/sessions/model.ts";
import { redactedStory, textRedactor } from "../../run/sessions/redact.ts";
import { type SessionStory, storyOf } from "../../run/sessions/story.ts";
import type { Io } from "../io.ts";
import { knownSessions } from "../looking-at-sessions.ts";
import { exportHtml } from "../render/story/html.ts";
import { exportJson } from "../render/story/json.ts";
import { exportMarkdown } from "../render/story/markdown.ts";
import { settingsOf } from "../settings.ts";

interface Options {
  session: string;
  format?: "md" | "html" | "json";
  output?: string;
  tree?: boolean;
  raw?: boolean;
  yes?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await knownSessions(io);
  const session = requireSession(nodes, options.session);
  const path = options.output === undefined ? undefined : resolve(io.cwd, options.output);
  if (path !== undefined && !options.yes && existsSync(path)) {
    throw new UserError("refused", `${shownPath(path)} is there already.`, "--yes writes over it.");
  }
  const redact = options.raw ? undefined : await textRedactor(workspace, settingsOf(workspace).config.redaction);
  const stories: SessionStory[] = [];
  for (const node of options.tree ? inOrder([session]) : [session]) {
    const story = await storyOf(workspace, node);
    stories.push(redact ? redactedStory(story, redact) : story);
  }
  const text = textOf(options.format ?? formatOf(path), stories, redact !== undefined);
  if (path === undefined) io.out.write(text);
  else write(path, text, io);
}

function textOf(format: "md" | "html" | "json", stories: readonly SessionStory[], redacted: boolean): string {
  if (format === "json") return exportJson(stories, redacted);
  return format === "html" ? exportHtml(stories) : exportMarkdown(stories);
}

/** As the file is called. */
function formatOf(path: string | undefined): "md" | "html" | "json" {
  const ending = /\.(html|json)$/.exec(path ?? "")?.[1];
  return ending === "html" || ending === "json" ? ending : "md";
}

function write(path: string, text: string, io: Io): void {
  try {
    writeFileAtomic(path, text);
  } catch (error) {
    throw new UserError("failed", `${shownPath(path)} can't be written (${codeOf(error) ?? String(error)}).`);
  }
  io.say(`Written to ${shownPath(path)}.`);
}
