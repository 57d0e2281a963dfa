/** Shows how far indexing is, if it takes longer than a second. */
import { showSize } from "../../../config/values.ts";
import type { UpdateProgress } from "../../../search/update/update.ts";
import type { Io } from "../../terminal/io.ts";

const PATIENCE_MS = 1_000;
const TICK_MS = 100;

export function indexingProgress(io: Io): { show(progress: UpdateProgress): void; clear(): void } {
  const started = performance.now();
  let shown = 0;
  return {
    show({ bytes, done, all }) {
      const time = performance.now();
      if (time - started < PATIENCE_MS || time - shown < TICK_MS) return;
      const isFirst = shown === 0;
      shown = time;
      if (io.err.isTerminal && !io.dumb) {
        io.err.write(
          `\rIndexing: ${done} of ${all} transcripts, ${showSize(bytes)} (Ctrl-C: search what is indexed)\u001b[K`,
        );
      } else if (isFirst) io.say("Indexing your agents' transcripts for the first time…");
    },
    clear() {
      if (shown > 0 && io.err.isTerminal && !io.dumb) io.err.write("\r\u001b[K");
    },
  };
}
