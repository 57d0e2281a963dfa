/** Previews that take a while, such as git's diffs: made while the list is already visible, one at a time. */
import { messageOf } from "../../base/errors.ts";

const PREVIEW_LINES = 400;

export class Previews {
  readonly #arrived: () => void;
  readonly #known = new Map<string, string>();
  #isMaking = false;

  /** `arrived` is called when a preview is there. */
  constructor(arrived: () => void) {
    this.#arrived = arrived;
  }

  /** Undefined until the preview is made. */
  of(id: string, make: () => Promise<string>): string | undefined {
    const known = this.#known.get(id);
    if (known === undefined && !this.#isMaking) void this.#make(id, make);
    return known;
  }

  async #make(id: string, make: () => Promise<string>): Promise<void> {
    this.#isMaking = true;
    try {
      this.#known.set(id, (await make()).split("\n", PREVIEW_LINES).join("\n"));
    } catch (error) {
      this.#known.set(id, messageOf(error));
    }
    this.#isMaking = false;
    this.#arrived();
  }
}
