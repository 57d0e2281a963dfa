/** Search finds turns whose conversation could not be read by what the hooks told of them. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hooked } from "../support/hooked.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

interface Hit {
  id: string;
  session: string;
  field: string;
  turn: number;
  snippet: string;
  fate: { state: string } | null;
}

/** Without a worker, so that a search indexes everything itself. */
const env = { BACKTRAIL_WORKER: "off" };
const session = "11111111-2222-4333-8444-555555555555";

/** A repository in which hooks tell of turns, and the transcript that they name does not exist. */
async function withoutTranscript() {
  const repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"], { env })).code).toBe(0);
  const { transcript } = new ScriptedClaude(repository, session);
  const common = { session_id: session, cwd: repository.path, transcript_path: transcript.path };
  const tell = async (event: string, fields: object) => {
    const input = JSON.stringify({ ...common, ...fields });
    expect((await repository.run(["hooks", "claude-code", event], { env, input })).code).toBe(0);
  };
  const turn = async (prompt: string, answer: string) => {
    await tell("user-prompt-submit", { hook_event_name: "UserPromptSubmit", prompt });
    await tell("stop", { hook_event_name: "Stop", last_assistant_message: answer });
  };
  await tell("session-start", { hook_event_name: "SessionStart", source: "startup" });
  return { repository, transcript, turn, [Symbol.dispose]: () => repository.remove() };
}

/** A search catches up for a short time only, so on a busy machine it may have to be asked again. */
async function hits(repository: TemporaryRepository, ...args: string[]): Promise<Hit[]> {
  for (let times = 0; ; times++) {
    const result = await repository.run(["search", "--json", ...args], { env });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const found = JSON.parse(result.stdout) as { hits: Hit[]; pending: number };
    if (found.pending === 0 || times === 20) return found.hits;
  }
}

test("a turn without a transcript is found by its prompt and its answer, each once", async () => {
  using recording = await withoutTranscript();
  const { repository, turn } = recording;
  await turn("Tidy the axolotlCache", "It is a quokka.");
  const [first] = await hits(repository, "axolotl");
  expect(first).toMatchObject({ session, field: "prompt", turn: 1, fate: { state: "kept" } });
  expect(first?.id).toMatch(/^[k-z]{12}$/);
  await turn("Tidy the wombat", `Not with ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}, the walrus says.`);
  for (const [word, field, number] of [
    ["axolotl", "prompt", 1],
    ["quokka", "answer", 1],
    ["wombat", "prompt", 2],
    ["walrus", "answer", 2],
  ] as const) {
    expect(await hits(repository, word)).toMatchObject([{ session, field, turn: number }]);
  }
  expect((await hits(repository, "walrus"))[0]?.snippet).toContain("[secret:");
  expect((await repository.run(["search", "--rebuild"], { env })).code).toBe(0);
  expect(await hits(repository, "tidy")).toHaveLength(2);
});

test("a transcript that turns up replaces what the steps told, and an empty one does not", async () => {
  using recording = await withoutTranscript();
  const { repository, transcript, turn } = recording;
  mkdirSync(dirname(transcript.path), { recursive: true });
  await turn("Tidy the axolotl", "It is a quokka.");
  writeFileSync(transcript.path, "");
  await turn("Tidy the wombat", "It is a walrus.");
  expect(await hits(repository, "tidy")).toHaveLength(2);
  transcript.user("Tidy the axolotl", "a");
  transcript.assistant([{ type: "text", text: "It is a quokka, at length a capybara." }]);
  transcript.user("Tidy the wombat", "b");
  transcript.user("Tidy the narwhal", "c");
  transcript.assistant([{ type: "text", text: "Done." }]);
  await turn("Tidy the narwhal", "Done.");
  expect(await hits(repository, "capybara")).toMatchObject([{ session, field: "answer" }]);
  expect(await hits(repository, "quokka")).toHaveLength(1);
  expect(await hits(repository, "tidy")).toHaveLength(3);
});

test("a run that the hooks recorded, too, is found once", async () => {
  using world = new StandIn();
  await hooked(world);
  expect((await world.run(["Tidy the axolotl"], env)).code).toBe(0);
  expect(await hits(world.repository, "axolotl", "field:prompt")).toMatchObject([{ turn: 1 }]);
  expect((await world.repository.run(["search", "--rebuild"], { env })).code).toBe(0);
  expect(await hits(world.repository, "axolotl", "field:prompt")).toMatchObject([{ turn: 1 }]);
});

test("what was forgotten is not found, and does not come back", async () => {
  using recording = await withoutTranscript();
  const { repository, turn } = recording;
  for (const bird of ["ostrich", "pelican", "flamingo"]) await turn(`Tidy the ${bird}`, `Told the ${bird}.`);
  const [pelican] = await hits(repository, "pelican", "field:prompt");
  const forget = async (...what: string[]) => {
    expect((await repository.run(["forget", ...what, "--yes"], { env })).code).toBe(0);
  };
  const rebuild = async () => expect((await repository.run(["search", "--rebuild"], { env })).code).toBe(0);
  await forget(pelican?.id ?? "");
  expect(await hits(repository, "pelican")).toEqual([]);
  expect(await hits(repository, "tidy")).toHaveLength(2);
  await rebuild();
  expect(await hits(repository, "pelican")).toEqual([]);
  await forget(session, "--conversation-only");
  const index = join(repository.home, "backtrail/state/search/index.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(index + suffix)) expect(readFileSync(index + suffix).includes("ostrich")).toBe(false);
  }
  expect(await hits(repository, "tidy")).toEqual([]);
  await rebuild();
  expect(await hits(repository, "tidy")).toEqual([]);
});
