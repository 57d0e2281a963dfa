/** Collects the files that an agent's tools wrote. A tool use counts unless its result reports a failure. */
export class WrittenFiles {
  readonly #uses = new Map<string, readonly string[]>();
  readonly #files = new Set<string>();

  /** Adds files that are known to be written. */
  add(paths: readonly string[]): void {
    for (const path of paths) this.#files.add(path);
  }

  addUse(id: string, paths: readonly string[]): void {
    this.#uses.set(id, paths);
  }

  /** `named` are the files named in the result, for a tool use outside the lines that were read. */
  addResult(id: string, failed: boolean, named: readonly string[] = []): void {
    const paths = this.#uses.get(id) ?? named;
    this.#uses.delete(id);
    if (!failed) this.add(paths);
  }

  /** Includes the files of tool uses without a result, because they may have been written. */
  list(): string[] {
    return [...new Set([...this.#files, ...[...this.#uses.values()].flat()])];
  }
}
