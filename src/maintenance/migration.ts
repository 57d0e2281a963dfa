/** Migrates a store to the current layout: moves conversations from git's object store to private files. */
import { migrateImported } from "../checkpoints/import/store.ts";
import { hasCurrentLayout, markLayout, type Workspace } from "../git/workspace.ts";
import { migrateSessions } from "../steps/upkeep/migrate.ts";
import { leaveWitness } from "../steps/upkeep/old-objects.ts";

/** Can be killed and repeated. Returns false if a session was busy: the next run continues. */
export async function migrateStore(workspace: Workspace): Promise<boolean> {
  const { moved, busy } = await migrateSessions(workspace);
  const imported = await migrateImported(workspace);
  if (busy > 0) return false;
  if (hasCurrentLayout(workspace) && moved + imported === 0) return true;
  leaveWitness(workspace);
  markLayout(workspace);
  return true;
}

/** The worker's task. Afterwards expiry migrates once a day, in case an earlier version was used here again. */
export async function migrateEarlierStore(workspace: Workspace): Promise<void> {
  if (!hasCurrentLayout(workspace)) await migrateStore(workspace);
}
