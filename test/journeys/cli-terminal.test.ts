/** A person at a terminal of 80 columns: the picker, its questions, and what happens on Ctrl-C. Needs tmux. */
import { expect, test } from "bun:test";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { hasTmux, Screen } from "../support/screen.ts";

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
  expect(first).toContain("Rewind to before this turn");
  expect(first).toContain("❯ just now     claude-code  Write a farewell");
  expect(first).toContain("  + farewell.txt");
  screen.press("g", "r", "e", "e", "t");
  const filtered = await screen.shows("+hello");
  expect(filtered).toContain("1/2");
  expect(filtered).not.toContain("farewell");
  screen.press("Tab");
  await screen.shows("Rewind to after this turn");
  screen.press("Enter");
  await screen.shows("Rewind?");
  screen.press("y");
  const done = await screen.shows("[ended with 0]");
  expect(done).toContain("Rewound: 0 files written, 1 deleted.");
  expect(done).toContain("claude --resume ");
  expect(repository.exists("farewell.txt")).toBe(false);
  expect(repository.read("greeting.txt")).toBe("hello\n");
});

const LONG_PROMPT = `Rename the price ${"and then rename it again ".repeat(5)}to the end`;

async function askedAtLength(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn(LONG_PROMPT, [write("price.txt", "1\n")]);
}

test("piped output is never cut", async () => {
  using repository = temporaryRepository();
  await askedAtLength(repository);
  for (const command of [["log"], ["status"], ["sessions"], ["undo", "1", "--dry-run"], ["rewind", "1", "--dry-run"]]) {
    const { stdout } = await repository.run(command);
    expect({ command, stdout }).toEqual({ command, stdout: expect.stringContaining(LONG_PROMPT) });
    expect(stdout).not.toContain("…");
  }
});

test.skipIf(!hasTmux)("on a terminal, rows are cut and sentences wrap", async () => {
  using repository = temporaryRepository();
  await askedAtLength(repository);
  {
    using screen = new Screen(repository, ["status"], {}, 60);
    const text = await screen.shows("[ended with 0]");
    expect(text).toMatch(/^ {2}\S+ {2}claude-code .*\n {4}Rename.*…$/m);
    expect(text).toContain("Stored");
  }
  const wordsOf = (text: string) => text.trim().split(/\s+/);
  const piped = (await repository.run(["rewind", "nowhere"])).stderr;
  using screen = new Screen(repository, ["rewind", "nowhere"], {}, 40);
  const message = (await screen.shows("[ended with")).split("[ended")[0] ?? "";
  expect(message.trim().split("\n").length).toBeGreaterThan(piped.trim().split("\n").length);
  // The terminal itself would break lines in the middle of words.
  expect(wordsOf(message)).toEqual(wordsOf(piped));
});

test.skipIf(!hasTmux)("undo asks which turn, and offers those that can be undone", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  {
    using screen = new Screen(repository, ["undo"]);
    const first = await screen.shows("+bye");
    expect(first).toStartWith("Undo which turn?\n");
    expect(first).toContain("type to filter · ↑↓ choose · ←→ scroll · enter undo · esc cancel");
    screen.press("Down", "Enter");
    const plan = await screen.shows("Undo?");
    expect(plan).toMatch(/^Undo @2 [k-z]{12} \(just now\), claude-code: "Write a greeting"$/m);
    screen.press("y");
    await screen.shows("[ended with 0]");
    expect(repository.exists("greeting.txt")).toBe(false);
    expect(repository.exists("farewell.txt")).toBe(true);
  }
  using screen = new Screen(repository, ["undo"], { TERM: "dumb" });
  const text = await screen.shows("Number, or Enter to cancel:");
  expect(text).toMatch(/^Undo which turn\?\n {2}1\. @1 just now: Write a farewell\nNumber/);
  screen.press("Enter");
  await screen.shows("[ended with 130]");
});

test.skipIf(!hasTmux)("Ctrl-C in the picker and at the question changes nothing", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  {
    using screen = new Screen(repository, ["rewind"]);
    await screen.shows("Rewind to before");
    screen.press("C-c");
    const text = await screen.shows("[ended with 130]");
    expect(text).toContain("Stopped. Nothing was changed.");
    expect(text).not.toContain("❯");
  }
  using screen = new Screen(repository, ["rewind", "1"]);
  await screen.shows("Rewind?");
  screen.press("C-c");
  await screen.shows("[ended with 130]");
  expect(repository.exists("farewell.txt")).toBe(true);
});

test.skipIf(!hasTmux)("files that change while the question is open lead to a new plan", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const changed = "The files changed after this plan was shown. Nothing was changed. The new plan:";
  {
    using screen = new Screen(repository, ["rewind", "1"], {}, 100);
    expect(await screen.shows("Rewind?")).not.toContain("mine.txt");
    repository.write("mine.txt", "written meanwhile\n");
    screen.press("y");
    const again = await screen.shows(new RegExp(`${changed}[^]*mine\\.txt[^]*Rewind\\?`));
    expect(again).toMatch(/ {2}- mine\.txt {2}yours, since /);
    expect([repository.exists("mine.txt"), repository.exists("farewell.txt")]).toEqual([true, true]);
    screen.press("n");
    await screen.shows("[ended with 3]");
    expect(repository.exists("mine.txt")).toBe(true);
  }
  {
    using screen = new Screen(repository, ["rewind", "1", "--keep-mine"], {}, 100);
    await screen.shows("Rewind?");
    repository.write("farewell.txt", "bye, my dear\n");
    screen.press("y");
    const refused = await screen.shows("[ended with 4]");
    expect(refused).toContain(changed);
    expect(refused).toContain("farewell.txt: it was created by this turn and changed since");
    expect(repository.read("farewell.txt")).toBe("bye, my dear\n");
  }
  // What an undo does not touch may change.
  using screen = new Screen(repository, ["undo", "2"], {}, 100);
  await screen.shows("Undo?");
  repository.write("mine.txt", "written again\n");
  screen.press("y");
  expect(await screen.shows("[ended with 0]")).not.toContain(changed);
  expect(repository.exists("greeting.txt")).toBe(false);
});

test.skipIf(!hasTmux)("a long plan is cut to the screen, and --all shows it in the pager", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  for (let i = 100; i < 140; i++) repository.write(`many/${i}.txt`, "x\n");
  {
    using screen = new Screen(repository, ["rewind", "1"]);
    const text = await screen.shows("Rewind?");
    expect(text).toStartWith("Rewind to ");
    expect(text).toMatch(/… and \d+ more files \(--all lists them\)/);
    screen.press("n");
    await screen.shows("[ended with 3]");
  }
  {
    using screen = new Screen(repository, ["rewind", "1", "--all"], { PAGER: "less" });
    const text = await screen.shows(/^:/m);
    expect(text).toStartWith("Rewind to ");
    expect(text).not.toContain("Rewind?");
    screen.press("G");
    expect(await screen.shows("chat")).toContain("many/139.txt");
    screen.press("q");
    await screen.shows("Rewind?");
    screen.press("n");
    await screen.shows("[ended with 3]");
  }
  using screen = new Screen(repository, ["rewind", "1", "--dry-run"], { PAGER: "less" });
  await screen.shows(/^:/m);
  screen.press("q");
  await screen.shows("[ended with 0]");
});

test.skipIf(!hasTmux)("a dumb terminal gets a numbered list", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["rewind"], { TERM: "dumb" });
  await screen.shows("Number (with + for after that turn), or Enter to cancel:");
  expect(screen.text()).toMatch(
    / 1\. @1 just now: before: Write a farewell\n +2\. @2 just now: before: Write a greeting/,
  );
  screen.press("2", "Enter");
  await screen.shows("Rewind? [y/N]");
  screen.press("n", "Enter");
  await screen.shows("[ended with 3]");
  expect(screen.text()).toContain("Nothing was changed.");
  expect(repository.exists("greeting.txt")).toBe(true);
});

test.skipIf(!hasTmux)("a number with a plus goes to after the turn", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["rewind"], { TERM: "dumb" });
  await screen.shows("or Enter to cancel:");
  screen.press("2", "+", "Enter");
  await screen.shows("Rewind? [y/N]");
  screen.press("y", "Enter");
  await screen.shows("[ended with 0]");
  expect(repository.exists("greeting.txt")).toBe(true);
  expect(repository.exists("farewell.txt")).toBe(false);
});

test.skipIf(!hasTmux)("with a screen reader: plain questions, nothing drawn again, no signs", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  await repository.run(["rewind", "1", "--yes"], { env: { BACKTRAIL_WORKER: "off" } });
  {
    using screen = new Screen(repository, ["log"], { ACCESSIBLE: "1" });
    const text = await screen.shows("[ended with 0]");
    expect(text).toContain("Prompt: Write a farewell\n1 file added: farewell.txt.\nThis turn was rewound.");
    expect(text).not.toMatch(/[●│└├✓✗❯◇]/);
  }
  using screen = new Screen(repository, ["rewind"], { ACCESSIBLE: "1" });
  const text = await screen.shows("or Enter to cancel:");
  expect(text).toMatch(/before: Write a farewell \(rewound\)/);
  expect(text).not.toMatch(/[●│└├✓✗❯◇]/);
  screen.press("2", "Enter");
  await screen.shows("Rewind? [y/N]");
  screen.press("n", "Enter");
  await screen.shows("[ended with 3]");
});

test.skipIf(!hasTmux)("40 columns hold the log and the picker, keys included", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  {
    using screen = new Screen(repository, ["log"], {}, 40);
    const text = await screen.shows("[ended with 0]");
    expect(text).toMatch(/^● [k-z]{12} {2}@1 {2}just now\n│ claude-code {2}[0-9a-f]{8} {2}\+1\n│ Write a farewell\n/);
  }
  using screen = new Screen(repository, ["rewind"], {}, 40);
  const text = await screen.shows("+bye");
  expect(text).toContain("❯ just now     Write a farewell");
  expect(text.trimEnd().split("\n").at(-1)).toBe("↑↓ · tab before/after · enter · esc");
  screen.press("Escape");
  await screen.shows("[ended with 130]");
});

test.skipIf(!hasTmux)("resume lists the sessions and prints how to continue the picked one", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const other = new ScriptedClaude(repository);
  await other.start();
  await other.turn("Another session", [write("other.txt", "x\n")]);
  using screen = new Screen(repository, ["resume"]);
  const list = await screen.shows("Continue which conversation?");
  expect(list).toMatch(/just now, claude-code: Another session/);
  screen.press("Enter");
  expect(await screen.shows("[ended with 0]")).toContain(`claude --resume ${other.session}`);
});

test.skipIf(!hasTmux)("the picked session is named after its last prompt, as in the list", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["resume"], { TERM: "dumb" });
  expect(await screen.shows("Number, or Enter to cancel:")).toContain("claude-code: Write a farewell");
  screen.press("1", "Enter");
  expect(await screen.shows("[ended with 0]")).toMatch(/Claude Code \(just now\): Write a farewell\n/);
});

test.skipIf(!hasTmux)("where the cursor cannot move, the sessions are numbered", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["resume"], { TERM: "dumb" });
  await screen.shows("Number, or Enter to cancel:");
  screen.press("7", "Enter");
  await screen.shows('"7" is not a number from 1 to 1.');
  await screen.shows("[ended with 2]");
});

test.if(hasTmux)("resume without a target lists each session by its last prompt", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  await repository.run(["save", "later"], { env: { BACKTRAIL_WORKER: "off" } });
  for (const variables of [{}, { TERM: "dumb" }]) {
    using screen = new Screen(repository, ["resume"], variables);
    const text = await screen.shows("Continue which conversation?");
    expect(await screen.shows(/claude-code: /)).toContain("claude-code: Write a farewell");
    expect(text).not.toContain("(no prompt)");
  }
});
