/** A stand-in for Claude Code that calls our hooks as the real one does, so that its runs are recorded as well. */

import { executable } from "./binary.ts";
import type { StandIn } from "./stand-in.ts";

/**
 * Shell lines that find `$id`, the session's, and `$asked`, the prompt, and a function `hook` that calls our hook through
 * `program`, a word of the shell.
 */
export function hookLines(program: string): string {
  return `for a; do before="$asked"; asked="$a"
  case "$before" in --session-id|--resume) id="$a";; esac
done
hook() {
  printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s","prompt":"%s"}' "$id" "$PWD" "$2" "$asked" |
    ${program} hooks claude-code "$1" >/dev/null
}
hook session-start SessionStart
hook user-prompt-submit UserPromptSubmit`;
}

/** `$id` is the session's, `$asked` the prompt. `deeds` is what it does in between. */
export function hookedAgent(deeds = ""): string {
  return `
${hookLines(`'${executable()}'`)}
init "$id"
${deeds}
printf '%s\\n' "$asked" >> notes.txt
printf '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Did: %s"}],"usage":{"input_tokens":10,"output_tokens":5}}}\\n' "$asked"
printf '{"type":"result","subtype":"success","is_error":false,"result":"Did: %s","usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.25}\\n' "$asked"
hook stop Stop
hook session-end SessionEnd`;
}

/** In an enabled repository. */
export async function hooked(world: StandIn, deeds = ""): Promise<void> {
  const enabled = await world.repository.run(["enable", "--agent", "claude-code"]);
  if (enabled.code !== 0) throw new Error(enabled.stderr);
  world.agent("claude", hookedAgent(deeds));
}
