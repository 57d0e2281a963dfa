/** Makes a failing program small: fewer operations, fewer kills, fewer bystanders, as long as it still fails in the same way. */
import type { Outcome } from "./execute.ts";
import type { Operation, Program } from "./program.ts";

export interface Shrunk {
  program: Program;
  outcome: Outcome;
  tries: number;
}

type Run = (program: Program) => Promise<Outcome>;

const MAX_CHANCES = 2;

export class Shrinker {
  readonly #run: Run;
  readonly #end: number;
  #tries = 0;
  #best: Program;
  #outcome: Outcome;

  constructor(run: Run, program: Program, outcome: Outcome, seconds: number) {
    this.#run = run;
    this.#end = performance.now() + seconds * 1000;
    this.#best = program;
    this.#outcome = outcome;
  }

  async shrink(): Promise<Shrunk> {
    await this.#without(this.#best.operations.slice(0, this.#outcome.at + 1));
    for (let before = Number.POSITIVE_INFINITY; before > size(this.#best) && !this.#isOver(); ) {
      before = size(this.#best);
      await this.#dropOperations();
      await this.#simplifyOperations();
    }
    if (this.#best.variant !== "plain") await this.#try({ ...this.#best, variant: "plain" });
    return { program: this.#best, outcome: this.#outcome, tries: this.#tries };
  }

  /** Delta debugging: ever smaller pieces are left out. */
  async #dropOperations(): Promise<void> {
    for (let piece = Math.ceil(this.#best.operations.length / 2); piece >= 1; piece = Math.floor(piece / 2)) {
      for (let from = this.#best.operations.length - piece; from > -piece && !this.#isOver(); from -= piece) {
        const { operations } = this.#best;
        await this.#without([...operations.slice(0, Math.max(0, from)), ...operations.slice(from + piece)]);
      }
    }
  }

  async #simplifyOperations(): Promise<void> {
    for (let at = 0; at < this.#best.operations.length && !this.#isOver(); at++) {
      for (const simpler of simplerThan(this.#best.operations[at])) {
        await this.#without(this.#best.operations.with(at, simpler));
      }
    }
  }

  async #without(operations: Operation[]): Promise<void> {
    if (operations.length === this.#best.operations.length && size({ operations }) === size(this.#best)) return;
    await this.#try({ ...this.#best, operations });
  }

  /** What depends on the moment gets more than one chance to fail. */
  async #try(program: Program): Promise<void> {
    const chances = program.operations.some(dependsOnTime) ? MAX_CHANCES : 1;
    for (let chance = 0; chance < chances && !this.#isOver(); chance++) {
      this.#tries += 1;
      const outcome = await this.#run(program);
      if (outcome.violations[0]?.kind !== this.#outcome.violations[0]?.kind) continue;
      this.#best = program;
      this.#outcome = outcome;
      return;
    }
  }

  #isOver(): boolean {
    return performance.now() > this.#end;
  }
}

function dependsOnTime({ kill, meanwhile }: Operation): boolean {
  return (kill !== undefined && "part" in kill) || meanwhile !== undefined;
}

function size({ operations }: Pick<Program, "operations">): number {
  return operations.reduce(
    (sum, { kill, meanwhile, clock, disk }) =>
      sum + 3 + (kill ? 1 : 0) + 2 * (meanwhile?.length ?? 0) + (clock === undefined ? 0 : 1) + (disk ? 1 : 0),
    0,
  );
}

function simplerThan(operation: Operation | undefined): Operation[] {
  if (!operation) return [];
  const { kill, meanwhile, clock, disk, ...plain } = operation;
  const simpler: Operation[] = [];
  if (kill || meanwhile || clock !== undefined || disk) simpler.push(plain);
  if (meanwhile) simpler.push({ ...plain, ...(kill ? { kill } : {}) });
  for (const left of meanwhile && meanwhile.length > 1 ? meanwhile : [])
    simpler.push({ ...operation, meanwhile: [left] });
  if (kill && meanwhile) simpler.push({ ...plain, meanwhile });
  if (clock !== undefined) simpler.push({ ...plain, ...(kill ? { kill } : {}), ...(meanwhile ? { meanwhile } : {}) });
  return simpler;
}
