/** One repository that the page shows: its steps, its objects and its redaction, each loaded when it is needed. */
import { type Objects, withObjects } from "../../../api/files.ts";
import { UserError } from "../../../base/errors.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { recordsFile } from "../../../restore/apply/restore-log.ts";
import type { LineCounts, Topic } from "../../protocol.ts";
import { watchFiles } from "../live/planned-files.ts";
import { createRedaction, NO_REDACTION, type Redaction } from "./redaction.ts";
import { stateMark, TurnIndex } from "./turn-index.ts";

export class OpenRepository {
  readonly id: string;
  readonly workspace: Workspace;
  /** Line counts of turns, which never change once the turn has ended. */
  readonly lineCounts = new Map<string, LineCounts>();
  /** Trees that earlier answers named, such as the sides of a fork: a client may name only these. */
  readonly shownTrees = new Set<string>();
  #index: { mark: string; turns: TurnIndex } | undefined;
  #redaction: Promise<Redaction> | undefined;
  #watch: { close(): void } | undefined;

  /** `redaction`: instead of the usual one, for a page that is made to be shared. */
  constructor(id: string, workspace: Workspace, redaction?: Redaction) {
    this.id = id;
    this.workspace = workspace;
    this.#redaction = redaction && Promise.resolve(redaction);
  }

  /** The turns as they are on disk now, and a mark that changes with them. */
  indexWithMark(): { turns: TurnIndex; mark: string } {
    const mark = stateMark(this.workspace, recordsFile(this.workspace));
    if (this.#index?.mark !== mark) this.#index = { mark, turns: new TurnIndex(this.workspace) };
    return this.#index;
  }

  step(id: string): Step {
    const step = this.indexWithMark().turns.step(id);
    if (step) return step;
    throw new UserError("not-found", "This step is not recorded here, or it has expired.");
  }

  objects<T>(use: (objects: Objects) => Promise<T>): Promise<T> {
    return withObjects(this.workspace, use);
  }

  /** Replaces secrets by placeholders, unless the user wants to see them. */
  redaction(reveal: boolean): Promise<Redaction> {
    if (reveal) return Promise.resolve(NO_REDACTION);
    this.#redaction ??= createRedaction(this.workspace);
    return this.#redaction;
  }

  invalidate(topics: readonly Topic[]): void {
    if (topics.includes("timeline")) this.#index = undefined;
  }

  /** Reports changes of these files: those of the plan that was drawn up last. */
  watchPlanned(paths: readonly string[], onChange: () => void): void {
    this.#watch?.close();
    this.#watch = paths.length === 0 ? undefined : watchFiles(this.workspace.root, paths, onChange);
  }

  close(): void {
    this.#index = undefined;
    this.watchPlanned([], () => undefined);
  }
}
