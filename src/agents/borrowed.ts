/** Some agents run hooks that were installed for another one: whose payload is it really? */
import { firstAt } from "./paths.ts";
import type { Borrower, Profile } from "./profile.ts";

/** The agent that borrowed the hooks of `profile`; null where they were run by their own. */
export async function borrowerOf(
  profile: Profile,
  payload: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const borrowers = profile.hooks?.borrowed_by ?? [];
  const shown = borrowers.find((borrower) => firstAt(payload, borrower.payload) !== undefined);
  if (shown) return shown.agent;
  const around = borrowers.find((borrower) => isAround(borrower, env));
  if (!around) return null;
  // Whoever starts the agent from the other one's terminal has its variables too.
  const { bestMatch } = await import("./detect.ts");
  return bestMatch([profile], { payload, env: {}, root: null }) ? null : around.agent;
}

function isAround({ env: names }: Borrower, env: Readonly<Record<string, string | undefined>>): boolean {
  return names?.some((name) => Boolean(env[name])) ?? false;
}
