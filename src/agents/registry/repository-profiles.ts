/**
 * Profiles in a repository (`.backtrail/agents/<id>.json`). A profile can make commands run and can exclude directories
 * from a restore, and the file may have been cloned with the repository. So Backtrail uses only the copy in the store
 * that the user accepted; the user must accept a changed file again.
 */
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { namesIn, readText, writeFileAtomic } from "../../base/fs/files.ts";
import { upgradedProfile } from "../contract/older-profile.ts";
import { isAgentId, isProfile } from "../contract/profile.ts";
import { acceptedProfilesDirectory, completeProfile } from "./registry.ts";

export interface OfferedProfile {
  id: string;
  file: string;
}

interface Place {
  root: string;
  storeDir: string;
}

/** Profiles that the user never accepted, or that changed since. */
export function offeredProfiles(place: Place): OfferedProfile[] {
  const directory = join(place.root, ".backtrail", "agents");
  return namesOf(directory).flatMap((name) => {
    const id = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
    const file = join(directory, name);
    if (!isAgentId(id) || !isPlainFile(place.root, file, name)) return [];
    return readText(file) === readText(acceptedFile(place, id)) ? [] : [{ id, file }];
  });
}

/** Refuses what hooks would not notice, such as a path that leads out of the agent's directory. */
export async function acceptProfile(place: Place, { id, file }: OfferedProfile): Promise<void> {
  const text = readText(file) ?? "";
  const problems = isProfileText(text, id) ? await problemsIn(file) : ["no profile"];
  if (problems.length > 0) {
    throw new UserError("failed", `${file}: ${problems[0]}.`, "`backtrail agents check <file>` says what is wrong.");
  }
  writeFileAtomic(acceptedFile(place, id), text, { sync: true });
}

async function problemsIn(file: string): Promise<string[]> {
  const { problemsOf } = await import("../contract/schema.ts");
  return problemsOf(await completeProfile(file));
}

function isProfileText(text: string, id: string): boolean {
  try {
    const value = upgradedProfile(JSON.parse(text));
    return isProfile(value) && value.id === id;
  } catch {
    return false;
  }
}

function acceptedFile(place: Place, id: string): string {
  return join(acceptedProfilesDirectory(place), `${id}.json`);
}

function namesOf(directory: string): string[] {
  try {
    return namesIn(directory).sort();
  } catch {
    return [];
  }
}

/** Rejects pipes, which could block the reader, and links to another location. */
function isPlainFile(root: string, file: string, name: string): boolean {
  try {
    return lstatSync(file).isFile() && realpathSync(file) === join(realpathSync(root), ".backtrail", "agents", name);
  } catch {
    return false;
  }
}
