/** The timeline of a running viewer. */
import { expect, test } from "bun:test";
import { gitWith, settled } from "../journeys/commits.ts";
import { write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

test("turns come newest first, with their files, lines, fate and answer", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const { items, branches, next } = await view.get("timeline");
  const turns = items.filter((item) => item.kind === "turn");
  expect(turns.map(({ prompt, answer, fate, open, files }) => ({ prompt, answer, fate, open, files }))).toEqual([
    {
      prompt: "Change it",
      answer: "Changed.",
      fate: "kept",
      open: false,
      files: { added: 1, modified: 1, deleted: 0 },
    },
    { prompt: "Add a file", answer: "Added.", fate: "kept", open: false, files: { added: 1, modified: 0, deleted: 0 } },
  ]);
  expect([branches.map(({ kind }) => kind), next]).toEqual([["current"], null]);
  const ids = turns.map(({ id }) => id);
  const { lines } = await view.get("lines", { turns: ids.join(",") });
  expect(ids.map((id) => lines[id])).toEqual([
    { added: 2, deleted: 1 },
    { added: 2, deleted: 0 },
  ]);
});

test("pages follow each other without gaps, and a rewind shows as a branch", async () => {
  using made = await recorded();
  await made.repository.run(["rewind", "1", "--yes"]);
  await made.agent.turn("Another way", [write("c.txt", "c\n")], "Done.");
  await using view = await startView(made.repository);
  const whole = await view.get("timeline");
  const paged: typeof whole.items = [];
  let before: string | undefined;
  for (;;) {
    const page = await view.get("timeline", { limit: "1", ...(before ? { before } : {}) });
    paged.push(...page.items);
    if (page.next === null) break;
    before = page.next;
  }
  expect(paged).toEqual(whole.items);
  expect(whole.items.map((item) => [item.kind, item.kind === "turn" ? item.fate : null])).toEqual([
    ["turn", "kept"],
    ["operation", null],
    ["turn", "rewound"],
    ["turn", "kept"],
  ]);
  const [left] = whole.branches.filter(({ kind }) => kind === "rewound");
  const rewind = whole.items.find((item) => item.kind === "operation");
  expect(left?.endedBy).toBe(rewind?.id as string);
});

test("filters by text, agent, path and fate", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const prompts = async (query: Record<string, string>) =>
    (await view.get("timeline", query)).items.map((item) => (item.kind === "turn" ? item.prompt : item.kind));
  expect(await prompts({ text: "change" })).toEqual(["Change it"]);
  expect(await prompts({ path: "b.txt" })).toEqual(["Change it"]);
  // The rows show paths, so words match these too.
  expect(await prompts({ text: "B.TX" })).toEqual(["Change it"]);
  expect(await prompts({ text: "b.tx", path: "a.txt" })).toEqual([]);
  expect(await prompts({ agent: "codex" })).toEqual([]);
  expect(await prompts({ fate: "undone" })).toEqual([]);
  expect(await prompts({ fate: "kept" })).toHaveLength(2);
});

test("a turn that ends while the page is open is announced", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const names: string[] = [];
  let turn: Promise<unknown> | undefined;
  for await (const { name, data } of view.events()) {
    names.push(name);
    turn ??= made.agent.turn("Live", [write("live.txt", "x\n")], "Live.");
    if ("topics" in data && data.topics.includes("timeline")) break;
  }
  expect(names[0]).toBe("hello");
  await turn;
  const { items } = await view.get("timeline");
  expect(items[0]).toMatchObject({ kind: "turn", prompt: "Live" });
});

test("the commit that a turn's changes are in is named, and no other turn has it", async () => {
  using made = await recorded();
  const { repository, agent } = made;
  const date = new Date().toISOString();
  repository.git("add", "--all");
  const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  gitWith(repository, dates, "commit", "--quiet", "--message", "Keep the work");
  const commit = repository.git("rev-parse", "HEAD").trim();
  await settled(repository);
  await agent.turn("Write on", [write("later.txt", "later\n")], "Written.");
  await using view = await startView(repository);
  const { items } = await view.get("timeline");
  const turns = items.filter((item) => item.kind === "turn");
  const ids = turns.map(({ id }) => id).join(",");
  const { commits } = await view.get("turnCommits", { turns: ids });
  expect(turns.map(({ id, prompt }) => [prompt, commits[id] ?? null])).toEqual([
    ["Write on", null],
    ["Change it", commit],
    ["Add a file", commit],
  ]);
}, 60_000);
