/** A stand-in for the `claude` that `backtrail run` starts: it calls the hooks, writes a file, and answers. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hookLines } from "../support/hooked.ts";
import type { World } from "./world.ts";

export function fakeAgent(world: World): void {
  const path = join(world.root, "bin", "claude");
  const source = `#!/bin/bash
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit; fi
${hookLines('"$BT"')}
printf '{"type":"system","subtype":"init","session_id":"%s"}\\n' "$id"
mkdir -p src && printf %s "$CHAOS_CONTENT" >src/by-run.txt
printf '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"%s"}\\n' "$id"
hook stop Stop
hook session-end SessionEnd
`;
  writeFileSync(path, source);
  chmodSync(path, 0o755);
  world.script.add(`cat >"$T/bin/claude" <<'EOF'\n${source}EOF\nchmod +x "$T/bin/claude"; export BT`);
}
