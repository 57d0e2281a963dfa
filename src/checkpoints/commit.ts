/**
 * Commits on the checkpoints' branch: the user's, and signed where the user signs theirs. Nobody is there to type a passphrase, so
 * a signature that cannot be had at once is left out: a checkpoint without one is worth more than none.
 */
import { now } from "../base/clock.ts";
import { log } from "../base/log.ts";
import { oneLine } from "../base/text.ts";
import type { ObjectWriter } from "../git/objects.ts";
import type { ObjectReader } from "../git/reader.ts";
import { gitText, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { signed } from "./signature.ts";

/** Who commits, and by which key; asked of git once for many commits. */
export interface Committing {
  workspace: Workspace;
  person: string;
  signs: boolean;
}

export interface CommitParts {
  tree: string;
  parents: readonly string[];
  message: string;
}

export async function committingIn(workspace: Workspace): Promise<Committing> {
  return { workspace, person: await committer(workspace), signs: await wantsSignature(workspace) };
}

/** What it names must have been written out; so has the commit when this returns. */
export async function writeCommit(
  { writer }: { writer: ObjectWriter },
  { workspace, person, signs }: Committing,
  { tree, parents, message }: CommitParts,
): Promise<string> {
  const header = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  header.push(`author ${person}`, `committer ${person}`);
  const text = `${header.join("\n")}\n\n${message}`;
  const signature = signs ? await signatureOf(workspace, person, text) : null;
  const name = workspace.hash === "sha1" ? "gpgsig" : "gpgsig-sha256";
  if (signature !== null) header.push(`${name} ${signature.trimEnd().replaceAll("\n", "\n ")}`);
  const id = writer.add("commit", Buffer.from(`${header.join("\n")}\n\n${message}`));
  writer.flush();
  return id;
}

export async function treeOf(reader: ObjectReader, commit: string): Promise<string> {
  const text = (await reader.require(commit, "commit")).toString("latin1");
  const tree = /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (tree === undefined) throw new Error(`The commit ${commit} is damaged.`);
  return tree;
}

async function signatureOf(workspace: Workspace, person: string, text: string): Promise<string | null> {
  const { signature, why } = await signed(workspace, person.replace(/ \d+ [+-]\d{4}$/, ""), text);
  if (signature === null)
    log("warn", "signature", `A checkpoint was written without one: ${oneLine(why).slice(0, 300)}`);
  return signature;
}

async function wantsSignature(workspace: Workspace): Promise<boolean> {
  const said = await tryGit(["config", "--type=bool", "--get", "commit.gpgSign"], { cwd: workspace.root });
  return said.stdout.toString("utf8").trim() === "true";
}

/** The user as git knows them, at the present time; without a name set, nobody in particular. */
async function committer(workspace: Workspace): Promise<string> {
  const seconds = Math.floor(now().getTime() / 1000);
  let name = "Backtrail <backtrail@localhost>";
  try {
    const said = await gitText(["var", "GIT_COMMITTER_IDENT"], { cwd: workspace.root });
    name = /^(.*>) \d+ [+-]\d{4}$/.exec(said)?.[1] ?? name;
  } catch {
    // git refuses where no name is set; a checkpoint is worth writing without one.
  }
  return `${name} ${seconds} +0000`;
}
