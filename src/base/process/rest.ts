/** For servers that wait most of their time: gives memory back to the system once there was nothing to do for a while. */
import { collectGarbage } from "../runtime.ts";

const AFTER_MS = 500;

export class Rest {
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** There is something to do. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Called once when there is no more work, so that an idle server stays idle. */
  begin(): void {
    this.end();
    this.#timer = setTimeout(collectGarbage, AFTER_MS);
    this.#timer.unref();
  }
}
