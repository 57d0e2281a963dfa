/** The files below one directory, by names relative to it. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export class Directory {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  /** Writes a file and the directories above it; gives its absolute path. */
  write(name: string, content: string | Uint8Array): string {
    const path = this.#below(name);
    writeFileSync(path, content);
    return path;
  }

  /** Makes a symbolic link and the directories above it; gives its absolute path. */
  link(name: string, target: string): string {
    const path = this.#below(name);
    symlinkSync(target, path);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  /** What is in it, sorted. */
  names(name = "."): string[] {
    return readdirSync(this.at(name)).sort();
  }

  exists(name: string): boolean {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) !== undefined;
  }

  #below(name: string): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }
}
