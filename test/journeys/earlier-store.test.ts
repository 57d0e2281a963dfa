/** A store that version 0.1.0 wrote: everything in it can still be read, gone back to, and continued. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable, ScriptedClaude, TemporaryRepository, write } from "../support/index.ts";

const ARCHIVE = join(import.meta.dirname, "..", "fixtures", "store-0.1.0.tar.gz");
/** Where the archive's repository and home were when 0.1.0 recorded two turns there. */
const ORIGIN = "/backtrail-0.1.0/backtrail-test-qOjrmH";
const PROGRAM = "/backtrail-0.1.0/bin/backtrail";
const SESSION = "0a1b2c3d-0000-4000-8000-000000000010";
/** Soon after those turns: nothing has expired yet. */
const ENVIRONMENT = { BACKTRAIL_CLOCK: "2026-11-18T05:00:00.000Z" };

interface Step {
  id: string;
  kind: string;
  turn: number;
  prompt: string | null;
  name: string | null;
  files: { added: string[]; modified: string[]; deleted: string[] };
}

interface Restored {
  plan: { write: string[]; delete: string[] };
  receipt: { chat: { transcript: string; command: string } | null };
}

/** As 0.1.0 left it, but at another place. */
function unpacked(): TemporaryRepository {
  const repository = new TemporaryRepository();
  const place = dirname(repository.path);
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", place]);
  for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.includes("/.git/objects/")) continue;
    const text = readFileSync(path, "latin1");
    const moved = text
      .replaceAll(PROGRAM, executable())
      .replaceAll(ORIGIN, place)
      .replaceAll(projectName(ORIGIN), projectName(place));
    if (moved !== text) writeFileSync(path, moved, "latin1");
  }
  const projects = join(repository.home, ".claude", "projects");
  const [before = ""] = readdirSync(projects);
  renameSync(join(projects, before), join(projects, projectName(repository.path)));
  return repository;
}

/** How Claude Code names the folder with a project's transcripts. */
function projectName(path: string): string {
  return path.replace(/[^a-zA-Z0-9]/g, "-");
}

function json<T>(repository: TemporaryRepository, ...args: string[]): Promise<T> {
  return repository.json<T>(args, { env: ENVIRONMENT });
}

const files = (repository: TemporaryRepository) => ({
  price: repository.exists("price.js") ? repository.read("price.js") : null,
  moved: repository.exists("lib/price.js"),
  notes: repository.exists("notes.md") ? repository.read("notes.md") : null,
});

const TIDY = { price: null, moved: true, notes: "tidied\n" };
const TAXED = { price: "export const price = 12;\n", moved: false, notes: "tax added\n" };

test("log and show read what 0.1.0 recorded", async () => {
  using repository = unpacked();
  const { steps } = await json<{ steps: Step[] }>(repository, "log");
  expect(steps.map(({ kind, turn, prompt, name }) => [kind, turn, name ?? prompt])).toEqual([
    ["manual", 2, "tidy"],
    ["turn-end", 2, "Tidy up"],
    ["tool", 2, "Tidy up"],
    ["turn-start", 2, "Tidy up"],
    ["turn-end", 1, "Add the tax"],
    ["turn-start", 1, "Add the tax"],
  ]);
  const ended = steps.find(({ kind }) => kind === "turn-end");
  const { step, patch } = await json<{ step: Step & { response: string; tokens: object }; patch: string }>(
    repository,
    "show",
    ended?.id ?? "",
    "--patch",
  );
  expect(step).toMatchObject({
    response: "Tidied.",
    files: { added: ["lib/price.js"], modified: ["notes.md"], deleted: ["price.js"] },
  });
  expect(patch).toContain("rename to lib/price.js");
  expect(files(repository)).toEqual(TIDY);
});

test("rewind goes back in code and conversation, redo forward again, undo takes one turn out", async () => {
  using repository = unpacked();
  const back = await json<Restored>(repository, "rewind", "1", "--yes");
  expect([back.plan.write, back.plan.delete]).toEqual([["notes.md", "price.js"], ["lib/price.js"]]);
  expect(files(repository)).toEqual(TAXED);
  const conversation = readFileSync(back.receipt.chat?.transcript ?? "", "utf8");
  expect([conversation.includes("The tax is added."), conversation.includes("Tidy up")]).toEqual([true, false]);

  const forward = await json<Restored>(repository, "redo", "--yes");
  expect(forward.receipt.chat?.command).toContain(SESSION);
  expect(files(repository)).toEqual(TIDY);

  await json(repository, "undo", "last", "--yes");
  expect(files(repository)).toEqual(TAXED);
});

test("a new turn continues the session, and leads back to a turn of 0.1.0", async () => {
  using repository = unpacked();
  const agent = new ScriptedClaude(repository, SESSION);
  await agent.turn("Write more notes", [write("notes.md", "more\n")], "More notes.");
  const { steps } = await json<{ steps: Step[] }>(repository, "log");
  expect(steps.filter(({ kind }) => kind === "turn-end").map(({ turn, prompt }) => [turn, prompt])).toEqual([
    [3, "Write more notes"],
    [2, "Tidy up"],
    [1, "Add the tax"],
  ]);
  await json(repository, "rewind", "2", "--yes");
  expect(files(repository)).toEqual(TAXED);
  expect(repository.git("fsck", "--no-dangling", "--strict")).toBe("");
});
