/** `export --format html`: the page of `view` with the data of some sessions inside. */
import { basename } from "node:path";
import { type Redaction, redactSession } from "../../checkpoints/write/redaction.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { ExportedData } from "../protocol.ts";
import { OpenRepository } from "../server/repository/open.ts";
import { NO_REDACTION } from "../server/repository/redaction.ts";
import { collect, type SessionWithStory } from "./collect.ts";
import { htmlDocument, readPageFiles } from "./document.ts";
import { withNames } from "./names.ts";

export interface ExportOptions {
  /** Undefined where nothing is recorded. */
  workspace: Workspace | undefined;
  /** The session, then those below it. Stories must be redacted already. */
  sessions: readonly SessionWithStory[];
  /** The names of the sessions' files as they are: a secret may be in one of them. */
  fileNames: readonly string[];
  /** Undefined: unredacted. */
  redaction: Redaction | undefined;
}

export async function exportPage({ workspace, sessions, fileNames, redaction }: ExportOptions): Promise<string> {
  const files = await readPageFiles();
  const name = workspace ? basename(workspace.root) : "Backtrail";
  const data = redaction
    ? await redacted(workspace, sessions, redaction, name)
    : await collect(open(workspace), sessions, name);
  const [first] = data.sessions;
  return htmlDocument(files, data, first?.details.title ?? first?.details.session.prompt ?? "");

  function open(place: Workspace | undefined, own?: Redaction): OpenRepository | null {
    return place ? new OpenRepository("", place, own ?? NO_REDACTION) : null;
  }

  /** File names are redacted too, and a secret that a name contains is removed wherever the name is mentioned. */
  async function redacted(
    place: Workspace | undefined,
    told: readonly SessionWithStory[],
    by: Redaction,
    repository: string,
  ): Promise<ExportedData> {
    return redactSession(by, fileNames, async (own) =>
      withNames(await collect(open(place, own), told, repository), (text) => own.name(text)),
    );
  }
}
