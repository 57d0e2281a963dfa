/** `export`: writes a session, without its secrets, into one file for others. */

import { extname, resolve } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { oneLine, shownPath } from "../../../base/text.ts";
import { requireSession } from "../../../run/sessions/find.ts";
import { inOrder, type SessionNode } from "../../../run/sessions/model.ts";
import { redactedStory, storyRedaction } from "../../../run/sessions/redact.ts";
import { type SessionStory, storyOf } from "../../../run/sessions/story.ts";
import { exportPage } from "../../../view/export/export.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { exportJson } from "../../render/session-export/json.ts";
import { exportMarkdown } from "../../render/session-export/markdown.ts";
import { loadSessions } from "../../shared/load-sessions.ts";
import { settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import { requireFree, writeOutput } from "../../terminal/output-file.ts";
import type { exportCommand } from "./commands.ts";

type Options = OptionsOf<typeof exportCommand>;
type Format = "md" | "html" | "json";

/** By the ending of the file's name. */
const FORMATS = new Map<string, Format>([
  ["md", "md"],
  ["markdown", "md"],
  ["html", "html"],
  ["htm", "html"],
  ["json", "json"],
]);

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await loadSessions(io);
  const session = requireSession(nodes, options.session);
  const path = options.output === undefined ? undefined : resolve(io.cwd, options.output);
  const format = options.format ?? formatOf(path);
  if (path !== undefined) requireFree(path, options.yes);
  const redaction = options.raw ? undefined : await storyRedaction(workspace, settingsOf(workspace).config.redaction);
  const stories: SessionStory[] = [];
  const fileNames: string[] = [];
  for (const node of options.tree ? inOrder([session]) : [session]) {
    const story = await storyOf(workspace, node);
    fileNames.push(...(story.files ?? []));
    stories.push(redaction ? await redactedStory(story, redaction) : story);
  }
  const text =
    format === "html"
      ? await exportPage({ workspace, sessions: toldBy(stories, session), fileNames, redaction })
      : format === "json"
        ? exportJson(stories, redaction !== undefined)
        : exportMarkdown(stories);
  if (path === undefined) io.out.write(text);
  else {
    writeOutput(path, text, options.yes);
    io.say(`Written to ${shownPath(path)}.`);
  }
}

/** The record is redacted again from the start, so it needs the sessions as they are. */
function toldBy(stories: readonly SessionStory[], session: SessionNode): { node: SessionNode; story: SessionStory }[] {
  const nodes = inOrder([session]);
  return stories.flatMap((story) => {
    const node = nodes.find(({ id, agent }) => id === story.session.id && agent === story.session.agent);
    return node ? [{ node, story }] : [];
  });
}

/** Derives the format from the file name; Markdown if that has no ending. */
function formatOf(path: string | undefined): Format {
  const ending = extname(path ?? "")
    .slice(1)
    .toLowerCase();
  const format = ending === "" ? "md" : FORMATS.get(ending);
  if (format) return format;
  throw new UserError(
    "usage",
    `.${oneLine(ending)} is not a format of an export.`,
    "Name the file .md, .html or .json, or give --format md, html or json.",
  );
}
