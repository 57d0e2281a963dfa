/**
 * Everything that may be killed halfway, one row each: how the world is made ready for it, how it is started, and the points at
 * which it may die. To add an operation, add a row to a file in `operations/`; the harness (`scene.ts`) does the rest.
 */
import { commits } from "./operations/commits.ts";
import { forks } from "./operations/forks.ts";
import type { Operation } from "./operations/operation.ts";
import { proposed } from "./operations/proposals.ts";
import { restores } from "./operations/restores.ts";
import { runs } from "./operations/runs.ts";
import { searches } from "./operations/search.ts";
import { steps } from "./operations/steps.ts";
import { syncs } from "./operations/syncs.ts";
import { trials } from "./operations/trials.ts";

export const OPERATIONS: readonly Operation[] = [
  ...steps,
  ...restores,
  ...proposed,
  ...forks,
  ...commits,
  ...syncs,
  ...runs,
  ...trials,
  ...searches,
];
