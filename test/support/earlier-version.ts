/** Scripts as an earlier version of Backtrail wrote them: without a guard, so that two of them call each other for ever. */
import { renameSync } from "node:fs";
import type { ChainingManager } from "./chaining-manager.ts";
import { installManager } from "./chaining-manager.ts";
import { type HookedRepository, SHARED_HOOKS } from "./hook-log.ts";

const HOOKS = [...SHARED_HOOKS, "post-rewrite"];

function oldScript(hook: string, executable: string, hasEarlier: boolean): string[] {
  const earlier = [
    `earlier="\${0%/*}/"'${hook}.before-backtrail'`,
    'if [ -x "$earlier" ]; then',
    '  "$earlier" "$@"',
    "  status=$?",
    "  [ $status -eq 0 ] || exit $status",
    "fi",
  ];
  return [
    "# Installed by Backtrail: `backtrail disable` puts back what was here before.",
    ...(hasEarlier ? earlier : []),
    `store="\${0%/*}/../backtrail"`,
    `${executable} hooks git ${hook} || :`,
    "exit 0",
  ];
}

/** As its `enable` and its worker did: whatever has the hook's name is taken for the user's. */
export function installOld(hooked: HookedRepository): void {
  const { repository, executable } = hooked;
  for (const hook of HOOKS) {
    const path = `.git/hooks/${hook}`;
    const kept = `${path}.before-backtrail`;
    const present = repository.exists(path) ? repository.read(path) : null;
    if (present !== null && !present.includes("Installed by Backtrail")) {
      const older = repository.exists(kept) ? repository.read(kept) : null;
      if (older !== null && older !== present) {
        const digest = new Bun.CryptoHasher("sha256").update(older).digest("hex").slice(0, 8);
        repository.write(`.git/backtrail/replaced-hooks/${hook}.${digest}`, older);
      }
      renameSync(repository.at(path), repository.at(kept));
    }
    hooked.script(path, oldScript(hook, executable, repository.exists(kept)));
  }
  const places = [{ directory: repository.at(".git/hooks"), made: false }];
  const record = { v: 1, executable, places };
  repository.write(".git/backtrail/git-hooks.json", `${JSON.stringify(record)}\n`);
}

/** Prompts at which the manager and the earlier version's worker put their hooks back in turn. */
export function promptsOld(hooked: HookedRepository, manager: ChainingManager, count = 3): void {
  for (let prompt = 0; prompt < count; prompt++) {
    installManager(hooked, manager);
    installOld(hooked);
  }
}
