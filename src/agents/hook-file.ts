/** A hook file that is a program of ours, loaded by the agent: its source, told how to call us. */
import type { HookFile } from "./agent.ts";
import type { Profile } from "./profile.ts";

const PLACE = "const HOOKS = {};";

export function programHookFile(profile: Profile, source: string): HookFile {
  return {
    content(command) {
      const hooks = Object.entries(profile.hooks?.install ?? {}).map(([event, { verb, matcher }]) => [
        event,
        { command: command(verb), matcher },
      ]);
      return source.replace(PLACE, () => `const HOOKS = ${JSON.stringify(Object.fromEntries(hooks), null, 2)};`);
    },
  };
}
