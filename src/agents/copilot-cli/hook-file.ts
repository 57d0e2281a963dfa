/** The file that Copilot reads its hooks from: one of several in a directory, so that this one can be all ours. */
import type { Profile } from "../profile.ts";

const SECONDS = 30;

export function hookFile(profile: Profile, command: (verb: string) => string): string {
  const installed = Object.entries(profile.hooks?.install ?? {});
  const hooks = Object.fromEntries(
    installed.map(([event, { verb, timeout, matcher }]) => [
      event,
      [{ type: "command", ...(matcher ? { matcher } : {}), bash: command(verb), timeoutSec: timeout ?? SECONDS }],
    ]),
  );
  return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
}
