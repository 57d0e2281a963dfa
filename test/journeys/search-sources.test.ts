/** Search finds what no agent keeps on this machine: logs of unrecorded runs, and checkpoints of colleagues. */
import { expect, test } from "bun:test";
import { StandIn } from "../support/stand-in.ts";
import { Shared, work } from "./synced.ts";

interface Found {
  hits: { session: string; agent: string; field: string; turn: number; repository: string; fate: unknown }[];
  pending: number;
}

test("a run that was not recorded is found by its prompt, answer and commands", async () => {
  using world = new StandIn();
  world.agent("claude", `init abcd1234; say "It is a quokka."; done_ "Done with the wombat."`);
  const env = { BACKTRAIL_WORKER: "off" };
  const find = async (...words: string[]) => {
    const { code, stdout } = await world.repository.run(["search", "--json", ...words], { env });
    expect(code).toBe(0);
    return JSON.parse(stdout) as Found;
  };
  expect((await world.run(["Look for the axolotl"], env)).code).toBe(0);
  for (const [word, field] of [
    ["axolotl", "prompt"],
    ["quokka", "answer"],
    ["wombat", "answer"],
  ] as const) {
    const { hits } = await find(word);
    expect(hits).toMatchObject([{ session: "abcd1234", agent: "claude-code", field, turn: 1, fate: null }]);
  }
  // The session goes on: its log has grown.
  expect((await world.run(["And the narwhal?", "--session", "abcd1234"], env)).code).toBe(0);
  expect((await find("narwhal")).hits).toMatchObject([{ session: "abcd1234", turn: 2 }]);
  expect((await find("axolotl")).hits).toHaveLength(1);
});

test("a conversation that a colleague pushed is found once it was fetched", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Explain the axolotlCache", "hello.txt");
  await ada.json(["sync", "push", "origin"]);
  ada.git("push", "--quiet", "origin", "main");
  const bob = await shared.machine();
  await bob.json(["sync", "fetch"]);
  const env = { BACKTRAIL_WORKER: "off" };
  const found = async (repository: typeof bob) => {
    const { code, stdout } = await repository.run(["search", "axolotl", "field:prompt", "--json"], { env });
    expect(code).toBe(0);
    return JSON.parse(stdout) as Found;
  };
  const theirs = await found(bob);
  expect(theirs).toMatchObject({ hits: [{ agent: "claude-code", field: "prompt", turn: 1, fate: null }], pending: 0 });
  // On the machine that recorded it, it is in three places and found once.
  expect((await found(ada)).hits).toMatchObject([{ session: theirs.hits[0]?.session, fate: { state: "kept" } }]);
});
