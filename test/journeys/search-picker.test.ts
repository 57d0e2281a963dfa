/** A person at a terminal searches as they type, looks at hits, and shows, resumes or rewinds one. Needs tmux. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { hasTmux, Screen } from "../support/screen.ts";

const UNRECORDED = "11111111-2222-4333-8444-555555555555";
const env = { BACKTRAIL_WORKER: "off" };

async function worked(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"], { env });
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello pelican\n")], "Greeted.");
  await claude.turn("Clean up", [bash("echo bye > greeting.txt")], "Cleaned.");
}

function unrecorded(repository: TemporaryRepository): string {
  const file = join(repository.home, ".claude/projects/-elsewhere", `${UNRECORDED}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const line = (type: string, uuid: string, content: unknown) =>
    JSON.stringify({
      ...{ type, uuid, parentUuid: null, sessionId: UNRECORDED, isSidechain: false, cwd: "/elsewhere" },
      ...{ timestamp: "2026-01-02T03:04:05.000Z", message: { role: type, content } },
    });
  const said = [
    line("user", "a", "Where is the axolotl?"),
    line("assistant", "b", [{ type: "text", text: "In a pond." }]),
  ];
  writeFileSync(file, `${said.join("\n")}\n`);
  return file;
}

test.skipIf(!hasTmux)(
  "hits appear as one types, with their diff beside them, and a key rewinds to before the turn",
  async () => {
    using repository = temporaryRepository();
    await worked(repository);
    using screen = new Screen(repository, ["search"], {}, 120);
    expect(await screen.shows("Cleaned.")).toMatch(/❯ just now {2}\S+ {2}turn 2 +│/);
    screen.press("-l", "field:removed peli");
    const shown = await screen.shows("-hello pelican");
    expect(shown).toMatch(/❯ just now {2}\S+ {2}turn 2 {2}greeting\.txt +│/);
    expect(shown).toMatch(/removed {2}hello pelican +│/);
    screen.press("C-r");
    await screen.shows(/\? *$|\(y\/N\)|Yes/m);
    screen.press("y");
    await screen.shows("[ended with 0]");
    expect(repository.read("greeting.txt")).toBe("hello pelican\n");
  },
);

test.skipIf(!hasTmux)("an unfinished filter is reported, and an empty result suggests close words", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  using screen = new Screen(repository, ["search"]);
  await screen.shows("Clean up");
  screen.press("-l", "is:");
  expect(await screen.shows("is: undone, kept, committed,")).toContain("Clean up");
  screen.press("-l", "un");
  await screen.shows("is:un is not a filter.");
  screen.press("C-u");
  screen.press("-l", "greetnig ");
  await screen.shows(/Did you mean "greeting"\?/);
  screen.press("Escape");
  await screen.shows("[ended with 130]");
});

test.skipIf(!hasTmux)("a session that was not recorded is shown and resumed by its hit, not rewound", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const file = unrecorded(repository);
  using screen = new Screen(repository, ["search"], {}, 120);
  await screen.shows("Clean up");
  screen.press("-l", "axol");
  await screen.shows("In a pond.");
  screen.press("C-r");
  await screen.shows("Backtrail did not record this turn");
  screen.press("C-o");
  const resumed = await screen.shows("[ended with 0]");
  expect(resumed).toContain(`cd /elsewhere && claude --resume ${UNRECORDED}`);

  const shown = await repository.run(["show", UNRECORDED.slice(0, 8)], { env });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(/session 11111111.*Prompt.*Where is the axolotl\?.*Result.*In a pond\./s);
  rmSync(file);
  expect((await repository.run(["show", UNRECORDED], { env })).stdout).toContain("deleted by the agent");
  const gone = await repository.run(["resume", UNRECORDED], { env });
  expect(gone.code).toBe(3);
  expect(gone.stderr).toContain("Backtrail did not record it");
});

test.skipIf(!hasTmux).each([{ TERM: "dumb" }, { ACCESSIBLE: "1" }])(
  "a list instead of a screen: %o",
  async (variables) => {
    using repository = temporaryRepository();
    await worked(repository);
    using screen = new Screen(repository, ["search"], variables, 120);
    await screen.shows("Search for, or Enter to cancel:");
    screen.press("-l", "pelican field:added,removed");
    screen.press("Enter");
    const listed = await screen.shows("Number to show");
    expect(listed).toMatch(/1\. just now, \S+, turn 2, removed in greeting\.txt: hello pelican/);
    expect(listed).toMatch(/2\. just now, \S+, turn 1, added in greeting\.txt: hello pelican/);
    expect(listed).not.toContain("│");
    screen.press("-l", "id 2");
    screen.press("Enter");
    expect(await screen.shows("[ended with 0]")).toMatch(/^[k-z]{12}$/m);
  },
);
