/** Something that somebody may do in a world. All its choices come from the random numbers of its own that it is given. */
import type { Random } from "../../fuzz/random.ts";
import type { Invocation } from "../invocation.ts";
import type { World } from "../world.ts";
import type { Agents } from "./agents.ts";

export interface Scene {
  world: World;
  random: Random;
  agents: Agents;
}

export interface Action {
  /** How often it comes up, compared with others. */
  weight: number;
  /** May happen while a command runs. */
  meanwhile?: boolean;
  /** Uses git, so that index and refs may change by it. */
  git?: boolean;
  /** What it does; a command of Backtrail's is given back to be run. Null: it can't be done now. */
  run(scene: Scene): Invocation | null | undefined;
}

export type Actions = Record<string, Action>;
