/** `export`: writes a session, without its secrets, into one file for others. */

import { resolve } from "node:path";
import { shownPath } from "../../../base/text.ts";
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

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await loadSessions(io);
  const session = requireSession(nodes, options.session);
  const path = options.output === undefined ? undefined : resolve(io.cwd, options.output);
  if (path !== undefined) requireFree(path, options.yes);
  const redaction = options.raw ? undefined : await storyRedaction(workspace, settingsOf(workspace).config.redaction);
  const stories: SessionStory[] = [];
  const fileNames: string[] = [];
  for (const node of options.tree ? inOrder([session]) : [session]) {
    const story = await storyOf(workspace, node);
    fileNames.push(...(story.files ?? []));
    stories.push(redaction ? await redactedStory(story, redaction) : story);
  }
  const format = options.format ?? formatOf(path);
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

/** Derives the format from the file name. */
function formatOf(path: string | undefined): "md" | "html" | "json" {
  const ending = /\.(html|json)$/.exec(path ?? "")?.[1];
  return ending === "html" || ending === "json" ? ending : "md";
}
