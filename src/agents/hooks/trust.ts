/**
 * Hook reviews: some agents run new hooks only after the user reviewed them. We announce the review, write the answer
 * only with the user's consent, and remove the answer together with the hooks.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { dataDirectory } from "../../base/paths.ts";
import { shownPath } from "../../base/text.ts";
import type { Edit } from "../../edit/edit.ts";
import { type EditOwner, inspectEdit, installEdit, type Outcome, recordsIn, uninstallEdit } from "../../edit/record.ts";
import type { Agent, ReviewedHooks } from "../contract/agent.ts";

type Reviewed = Pick<Agent, "profile" | "trust">;

/** The hooks, and the agent's user settings directory. */
export type HooksInPlace = Omit<ReviewedHooks, "text"> & { directory: string };

export interface Review {
  files: Outcome[];
  notes: string[];
  /** Why the requested answer could not be written. */
  unanswered?: { message: string; hint: string | undefined };
}

/** Reports what the user should know about the review. With `isTrusted`, also writes the user's answer. */
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
    const done = await installEdit(file, edit, keepingFor(agent, place));
    const behind = done.linkTo === undefined ? "" : ` (behind its link: ${shownPath(done.linkTo)})`;
    const said = `${name}: these hooks count as reviewed by you; that is written in ${shownPath(file)}${behind}.`;
    const answers = textOf(file);
    return { files: [done], notes: [said, ...trust.granted(answers, hooks), ...trust.refused(answers, hooks)] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { files: [], notes: asked, unanswered: { message: error.message, hint: error.hint } };
  }
}

/** Why a review keeps the hooks from running: it is pending, or the user refused. Changes nothing. */
export async function reviewObstacles(agent: Reviewed, place: HooksInPlace): Promise<string[]> {
  if (!agent.trust) return [];
  const trust = await agent.trust();
  const file = trust.file(place.directory);
  const hooks = { ...place, text: textOf(place.file) };
  const { display_name: name } = agent.profile;
  const refused = answersIn(file, (answers) => trust.refused(answers, hooks));
  if (refused.length > 0 || isAnswered(file, trust.edit(hooks))) return refused;
  return [`${name} skips these hooks until you have reviewed them in it.`];
}

function answersIn(file: string, read: (text: string) => string[]): string[] {
  try {
    return read(textOf(file));
  } catch {
    return [];
  }
}

/** Removes an answer that we wrote for the user; returns the changed files. */
export async function revokeTrust(agent: Reviewed, place: HooksInPlace): Promise<Outcome[]> {
  if (!agent.trust) return [];
  const trust = await agent.trust();
  const keeping = keepingFor(agent, place);
  const edit = trust.edit({ ...place, text: null });
  const recorded = recordsIn(keeping.records).find(({ owner }) => owner === keeping.owner);
  const file = recorded?.file ?? trust.file(place.directory);
  // Ignore a file that we never wrote to, whatever its state.
  if (!recorded && !isMarked(file, edit)) return [];
  const done = await uninstallEdit(file, edit, keeping);
  return done.action === "unchanged" ? [] : [done];
}

/** One file holds the answers for many hook files. Each has its own record, so each can be removed separately. */
function keepingFor({ profile }: Reviewed, { file }: HooksInPlace): EditOwner {
  return { records: join(dataDirectory(), "edits"), owner: `${profile.id} review of ${file}`, holder: file };
}

function isAnswered(file: string, edit: Edit): boolean {
  try {
    return inspectEdit(file, edit) === "installed";
  } catch {
    return false;
  }
}

function isMarked(file: string, edit: Edit): boolean {
  try {
    return inspectEdit(file, edit) !== "absent";
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
