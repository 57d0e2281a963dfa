/**
 * Words that a lower layer needs and `cli/render/words` has: the program that runs installs them once, at its start
 * (docs/design/facts-and-sentences.md). Errors have their own, in errors.ts.
 */
export class InstalledWords<W extends object> {
  readonly #name: string;
  #words: W | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  install(words: W): void {
    this.#words = words;
  }

  get(): W {
    if (!this.#words) throw new Error(`No words for ${this.#name}: call installWords() first.`);
    return this.#words;
  }
}
