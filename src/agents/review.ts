/**
 * Some agents run new hooks only after their user has reviewed them. What they will ask is told; the answer is written
 * for the user only with the user's word, and taken out again with the hooks.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { dataDirectory } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";
import type { Edit } from "../edit/edit.ts";
import { addTo, type Keeping, lookAt, type Outcome, recordsIn, removeFrom } from "../edit/record.ts";
import type { Agent, ReviewedHooks } from "./agent.ts";

type Reviewed = Pick<Agent, "profile" | "trust">;

/** The hooks, and the directory in which the agent keeps its user's settings. */
export type HooksInPlace = Omit<ReviewedHooks, "text"> & { directory: string };

export interface Review {
  files: Outcome[];
  notes: string[];
  /** Why the answer could not be written, where it was to be. */
  unanswered?: { message: string; hint: string | undefined };
}

/** What the user is to know of the review; with `isTrusted`, the user's answer is written. */
export async function review(agent: Reviewed, place: HooksInPlace, isTrusted: boolean): Promise<Review> {
  const { display_name: name, hooks: section } = agent.profile;
  const asked = section?.review === undefined ? [] : [`${name}: ${section.review}`];
  if (!agent.trust) return { files: [], notes: asked };
  const trust = await agent.trust();
  const file = trust.file(place.directory);
  const hooks = { ...place, text: textOf(place.file) };
  const edit = trust.edit(hooks);
  if (!isTrusted) {
    if (isAnswered(file, edit)) return { files: [], notes: trust.refused(textOf(file), hooks) };
    return { files: [], notes: [...asked, `${name}: \`backtrail enable --trust\` answers that for you.`] };
  }
  try {
    const done = await addTo(file, edit, keepingFor(agent, place));
    const behind = done.linkTo === undefined ? "" : ` (behind its link: ${shownPath(done.linkTo)})`;
    const said = `${name}: these hooks count as reviewed by you; that is written in ${shownPath(file)}${behind}.`;
    const answers = textOf(file);
    return { files: [done], notes: [said, ...trust.granted(answers, hooks), ...trust.refused(answers, hooks)] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { files: [], notes: asked, unanswered: { message: error.message, hint: error.hint } };
  }
}

/** Takes out an answer that was written for the user; gives the files that had to change. */
export async function withdraw(agent: Reviewed, place: HooksInPlace): Promise<Outcome[]> {
  if (!agent.trust) return [];
  const trust = await agent.trust();
  const keeping = keepingFor(agent, place);
  const edit = trust.edit({ ...place, text: null });
  const recorded = recordsIn(keeping.records).find(({ owner }) => owner === keeping.owner);
  const file = recorded?.file ?? trust.file(place.directory);
  // A file in which we never wrote is none of our business, whatever its state.
  if (!recorded && !isMarked(file, edit)) return [];
  const done = await removeFrom(file, edit, keeping);
  return done.action === "unchanged" ? [] : [done];
}

/** The file holds the answers for many places: each has a record of its own, and goes without the others. */
function keepingFor({ profile }: Reviewed, { file }: HooksInPlace): Keeping {
  return { records: join(dataDirectory(), "edits"), owner: `${profile.id} review of ${file}`, holder: file };
}

function isAnswered(file: string, edit: Edit): boolean {
  try {
    return lookAt(file, edit) === "installed";
  } catch {
    return false;
  }
}

function isMarked(file: string, edit: Edit): boolean {
  try {
    return lookAt(file, edit) !== "absent";
  } catch {
    return false;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace("\ufeff", "");
  } catch {
    return "";
  }
}
