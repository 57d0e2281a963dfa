/**
 * Writes commits on the checkpoint branch, in the user's name, and signed if the user signs commits. There is no prompt
 * for a passphrase: if signing fails, the commit is written unsigned, since that is better than no checkpoint.
 */
import { now } from "../../base/clock.ts";
import { log } from "../../base/log.ts";
import { oneLine } from "../../base/text.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import { gitText, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { signed } from "./signature.ts";

/** The committer and whether to sign; read from git once for many commits. */
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

/** The objects that the commit names must already be flushed. Flushes the commit before it returns. */
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

/** The user's identity from git with the current time; a generic one if git has no name. */
async function committer(workspace: Workspace): Promise<string> {
  const seconds = Math.floor(now().getTime() / 1000);
  let name = "Backtrail <backtrail@localhost>";
  try {
    const said = await gitText(["var", "GIT_COMMITTER_IDENT"], { cwd: workspace.root });
    name = /^(.*>) \d+ [+-]\d{4}$/.exec(said)?.[1] ?? name;
  } catch {
    // git fails if no name is set; write the checkpoint anyway.
  }
  return `${name} ${seconds} +0000`;
}
