/** The shell script of a run: each thing that happened, as a line that does it again. */

/** Shell functions and variables that the lines use. */
const HEAD = `#!/bin/bash
# Usage: BT=<executable> bash <this file>. Works in a new directory and leaves it there to look at.
BT=\${BT:-backtrail}
T=$(mktemp -d); S=$(printf %s "$T" | tr -c a-zA-Z0-9 -); mkdir -p "$T/home" "$T/w" "$T/bin"
export HOME=$T/home BACKTRAIL_HOME=$T/home/backtrail GIT_CONFIG_GLOBAL=$T/home/gitconfig GIT_CONFIG_NOSYSTEM=1
export GIT_EDITOR=true GIT_SEQUENCE_EDITOR=true GIT_TERMINAL_PROMPT=0 NO_COLOR=1 PATH=$T/bin:$PATH
# The id of the nth step, oldest first.
step() { find "$T" -name steps.jsonl | head -n 1 | xargs grep -o '"id":"[k-z]*"' | sed -n "$(($1 + 1))s/.*:\\"\\(.*\\)\\"/\\1/p"; }
# Map a file into memory and keep it mapped; write into the mapping; forget about it.
map_open() { mkfifo "$T/map$1"; python3 -c '
import mmap, sys
f = open(sys.argv[1], "r+b"); m = mmap.mmap(f.fileno(), 0)
for line in sys.stdin: m[0:len(line) - 1] = line[:-1].encode()' "$2" <"$T/map$1" & eval "exec {map$1}>\\"$T/map$1\\""; }
map_write() { eval "echo $2 >&\\$map$1"; sleep 0.05; }
`;

/** A directory's name as Claude Code calls its conversations. */
export function slug(path: string): string {
  return path.replace(/[^a-zA-Z0-9]/g, "-");
}

export class Script {
  readonly #root: string;
  readonly #lines: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  add(line: string): void {
    this.#lines.push(line);
  }

  addOnce(line: string): void {
    if (!this.#lines.includes(line)) this.add(line);
  }

  comment(text: string): void {
    this.#lines.push(`# ${text.replaceAll("\n", " ")}`);
  }

  /** One word of a shell's line; the run's own directory becomes $T. */
  quote(word: string): string {
    if (/^[\w./:=@,+-]+$/.test(word) && !word.includes(this.#root)) return word;
    const whole = `'${word.replaceAll("'", `'\\''`)}'`;
    const moved = whole.replaceAll(this.#root, `'"$T"'`).replaceAll(slug(this.#root), `'"$S"'`);
    return moved.replace(/^''(?=.)/, "").replace(/(?<=.)''$/, "");
  }

  words(words: readonly string[]): string {
    return words.map((word) => this.quote(word)).join(" ");
  }

  toString(): string {
    return `${HEAD}${this.#lines.join("\n")}\n`;
  }
}
