/** A person at a terminal of 80 columns: the picker, its questions, and what happens on Ctrl-C. Needs tmux. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  executable,
  ScriptedClaude,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
  write,
} from "../support/index.ts";

const PATIENCE_MS = 20_000;
const hasTmux = Bun.which("tmux") !== null;

class Screen implements Disposable {
  readonly #place = temporaryDirectory();
  readonly #env: Record<string, string>;

  constructor(repository: TemporaryRepository, args: string[], variables: Record<string, string | undefined> = {}) {
    const extra = { TERM: "xterm", NO_COLOR: undefined, COLUMNS: undefined, BACKTRAIL_WORKER: "off", ...variables };
    this.#env = repository.environment(extra);
    const shell = `"$@"; echo "[ended with $?]"; sleep 1000`;
    const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value ?? ""}`);
    const command = ["env", ...assigned, "sh", "-c", shell, "sh", executable(), ...args];
    this.#tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", repository.path, "--", ...command);
  }

  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  text(): string {
    return this.#tmux("capture-pane", "-p");
  }

  async shows(pattern: string | RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const text = this.text();
      if (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text)) return text;
      if (Date.now() > deadline) throw new Error(`The screen never showed ${pattern}:\n${text}`);
      await Bun.sleep(50);
    }
  }

  [Symbol.dispose](): void {
    this.#tmux("kill-server");
    this.#place.remove();
  }

  #tmux(...args: string[]): string {
    const socket = ["-f", "/dev/null", "-S", this.#place.at("s")];
    return spawnSync("tmux", [...socket, ...args], { env: this.#env, encoding: "utf8" }).stdout;
  }
}

async function worked(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  await claude.turn("Write a farewell", [write("farewell.txt", "bye\n")]);
}

test.skipIf(!hasTmux)("a moment is picked by typing, looked at, confirmed and gone back to", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["rewind"]);
  const first = await screen.shows("+bye");
  expect(first).toContain("Go back to before this turn");
  expect(first).toContain("❯ just now     Write a farewell");
  expect(first).toContain("  + farewell.txt");
  screen.press("g", "r", "e", "e", "t");
  const filtered = await screen.shows("+hello");
  expect(filtered).toContain("1/2");
  expect(filtered).not.toContain("farewell");
  screen.press("Tab");
  await screen.shows("Go back to after this turn");
  screen.press("Enter");
  await screen.shows("Go back?");
  screen.press("y");
  const done = await screen.shows("[ended with 0]");
  expect(done).toContain("Rewound: 0 files written, 1 deleted.");
  expect(done).toContain("claude --resume ");
  expect(repository.exists("farewell.txt")).toBe(false);
  expect(repository.read("greeting.txt")).toBe("hello\n");
});

test.skipIf(!hasTmux)("Ctrl-C in the picker and at the question changes nothing", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  {
    using screen = new Screen(repository, ["rewind"]);
    await screen.shows("Go back to before");
    screen.press("C-c");
    const text = await screen.shows("[ended with 130]");
    expect(text).toContain("Stopped. Nothing was changed.");
    expect(text).not.toContain("❯");
  }
  using screen = new Screen(repository, ["rewind", "1"]);
  await screen.shows("Go back?");
  screen.press("C-c");
  await screen.shows("[ended with 130]");
  expect(repository.exists("farewell.txt")).toBe(true);
});

test.skipIf(!hasTmux)("a dumb terminal gets a numbered list", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["rewind"], { TERM: "dumb" });
  await screen.shows("Number, or nothing to stop:");
  expect(screen.text()).toMatch(/ 1\. just now: before: Write a farewell\n +2\. just now: before: Write a greeting/);
  screen.press("2", "Enter");
  await screen.shows("Go back? [y/N]");
  screen.press("n", "Enter");
  await screen.shows("[ended with 3]");
  expect(screen.text()).toContain("Nothing was changed.");
  expect(repository.exists("greeting.txt")).toBe(true);
});
