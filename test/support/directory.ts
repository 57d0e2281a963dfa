/** Temporary directories that go away with the block that made them: `using place = temporaryDirectory()`. */
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Directory } from "./files/directory.ts";

export class TemporaryDirectory extends Directory implements Disposable {
  constructor(parent = tmpdir()) {
    super(realpathSync(mkdtempSync(join(parent, "backtrail-test-"))));
  }

  remove(): void {
    try {
      rmSync(this.path, { recursive: true, force: true });
    } catch {
      // A test may have left directories that cannot be written.
      makeWritable(this.path);
      rmSync(this.path, { recursive: true, force: true });
    }
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

/** `parent`: where other file systems than that of temporary files are. */
export function temporaryDirectory(parent?: string): TemporaryDirectory {
  return new TemporaryDirectory(parent);
}

function makeWritable(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(directory, entry.name));
  }
}
