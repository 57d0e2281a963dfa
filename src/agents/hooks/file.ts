/** A hook file that is our own plugin source, with the commands that call us filled in. */
import type { HookFile } from "../contract/agent.ts";
import type { Profile } from "../contract/profile.ts";

const PLACE = "const HOOKS = {};";
/** In a plugin that several agents use. */
const AGENT = /^const AGENT = "[a-z-]+";$/m;

export function programHookFile(profile: Profile, source: string): HookFile {
  return {
    content: (command) =>
      source
        .replace(PLACE, () => `const HOOKS = ${hooksOf(profile, command)};`)
        .replace(AGENT, () => `const AGENT = ${JSON.stringify(profile.id)};`),
  };
}

/** A hook file from the template in the profile. `{{hooks}}` becomes JSON, so no value can become code. */
export function templateHookFile(profile: Profile, template: readonly string[]): HookFile {
  const source = `${template.join("\n")}\n`;
  return { content: (command) => source.replaceAll("{{hooks}}", () => hooksOf(profile, command)) };
}

function hooksOf({ hooks }: Profile, command: (verb: string) => string): string {
  const entries = Object.entries(hooks?.install ?? {}).map(([event, { verb, matcher }]) => [
    event,
    { command: command(verb), matcher },
  ]);
  // Old JavaScript engines end a line at these two characters, even inside a string.
  return JSON.stringify(Object.fromEntries(entries), null, 2).replace(/[\u2028\u2029]/g, (found) =>
    found === "\u2028" ? "\\u2028" : "\\u2029",
  );
}
