/** Temporary directories that go away with the block that made them: `using place = temporaryDirectory()`. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export class TemporaryDirectory implements Disposable {
  readonly path: string;

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-test-")));
  }

  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  /** Writes a file and the directories above it; gives its absolute path. */
  write(name: string, content: string | Uint8Array): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  exists(name: string): boolean {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) !== undefined;
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

export function temporaryDirectory(): TemporaryDirectory {
  return new TemporaryDirectory();
}

function makeWritable(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(directory, entry.name));
  }
}
