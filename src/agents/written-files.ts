/** Files that an agent's tools wrote, collected over a stretch: a use counts unless its result says that it failed. */
export class WrittenFiles {
  readonly #uses = new Map<string, readonly string[]>();
  readonly #files = new Set<string>();

  addUse(id: string, paths: readonly string[]): void {
    this.#uses.set(id, paths);
  }

  /** `told` are the files that the result itself names, for a use that lies before the stretch. */
  addResult(id: string, failed: boolean, told: readonly string[] = []): void {
    const paths = this.#uses.get(id) ?? told;
    this.#uses.delete(id);
    if (!failed) for (const path of paths) this.#files.add(path);
  }

  /** With the files of uses whose result never came: they may have been written. */
  list(): string[] {
    return [...new Set([...this.#files, ...[...this.#uses.values()].flat()])];
  }
}
