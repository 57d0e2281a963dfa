/** Finds out which agent really sent a payload, because some agents run hooks that were installed for another one. */

import type { Borrower, Profile } from "../contract/profile.ts";
import { firstAt } from "./paths.ts";

/** The agent that borrowed the hooks of `profile`; null if the profile's own agent ran them. */
export async function actualAgent(
  profile: Profile,
  payload: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const borrowers = profile.hooks?.borrowed_by ?? [];
  const shown = borrowers.find((borrower) => firstAt(payload, borrower.payload) !== undefined);
  if (shown) return shown.agent;
  const around = borrowers.find((borrower) => isAround(borrower, env));
  if (!around) return null;
  // An agent started from the other agent's terminal inherits that agent's variables.
  const { bestMatch } = await import("./detect.ts");
  return bestMatch([profile], { payload, env: {}, root: null }) ? null : around.agent;
}

function isAround({ env: names }: Borrower, env: Readonly<Record<string, string | undefined>>): boolean {
  return names?.some((name) => Boolean(env[name])) ?? false;
}
