/** Which of the user's own profiles are used although something in them is wrong. `agents check` says what. */
import { join } from "node:path";
import { completeProfile, userAgentsDirectory } from "../registry/registry.ts";

/** The ids whose profiles are the user's and have problems. */
export async function faultyProfiles(ids: readonly string[]): Promise<string[]> {
  const faulty: string[] = [];
  for (const id of ids) {
    try {
      const value = await completeProfile(join(userAgentsDirectory(), `${id}.json`));
      if (value === undefined) continue;
      // Takes longer to load than most commands run.
      const { problemsOf } = await import("../contract/schema.ts");
      if (problemsOf(value).length > 0) faulty.push(id);
    } catch {
      // It can't be used at all, which is reported elsewhere.
    }
  }
  return faulty;
}
