/** Migrates a store in a process of its own, which may be killed (`migrating.ts <root>`, with `BACKTRAIL_FAULT` naming the point). */
import { findWorkspace } from "../../src/git/workspace.ts";
import { migrateStore } from "../../src/maintenance/migration.ts";

const workspace = findWorkspace(process.argv[2] ?? "");
if (!workspace) throw new Error("There is no workspace.");
await migrateStore(workspace);
