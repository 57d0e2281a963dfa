/** A turn that runs, and a fork's turns beside it, through a running viewer. */
import { expect, test } from "bun:test";
import { edit } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

test("a running turn shows its changes so far, and nothing of the turn before it", async () => {
  using made = await recorded();
  await made.repository.run(["check", "--", "true"]);
  await made.repository.run(["check", "--now"]);
  await made.agent.begin("Change it again");
  await made.agent.act(edit("a.txt", "2", "II"));
  await using view = await startView(made.repository);
  const [row] = (await view.get("timeline")).items;
  if (row?.kind !== "turn") throw new Error("no turn");
  expect(row).toMatchObject({ open: true, prompt: "Change it again", check: null });
  const details = await view.get("turn", { id: row.id });
  expect([details.answer, details.tools, details.noTools]).toEqual([null, [], null]);
  const { files, to } = await view.get("changes", { turn: row.id });
  expect([to, files.map(({ path }) => path)]).toEqual([null, ["a.txt"]]);
  const diff = await view.get("fileDiff", { turn: row.id, path: "a.txt" });
  if (diff.kind !== "text") throw new Error(diff.kind);
  expect(diff.hunks[0]?.lines).toEqual([" one", "-2", "+II"]);

  await made.agent.finish("Changed again.");
  const [ended] = (await view.get("timeline")).items;
  if (ended?.kind !== "turn") throw new Error("no turn");
  expect((await view.get("turn", { id: ended.id })).answer).toBe("Changed again.");
  expect((await view.get("changes", { turn: ended.id })).to).toBe(ended.id);
});

test("the page shows the repository's branch, not a fork's", async () => {
  using made = await recorded();
  expect((await made.repository.run(["fork", "1"])).code).toBe(0);
  await using view = await startView(made.repository);
  expect((await view.get("state")).repository.branch).toBe("main");
  made.repository.git("checkout", "--quiet", "-b", "other");
  expect((await view.get("state")).repository.branch).toBe("other");
});

test("a tool call names files of the repository without the way to it", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const [row] = (await view.get("timeline")).items;
  const { tools } = await view.get("turn", { id: row?.id ?? "" });
  expect(tools.map(({ title }) => title)).toEqual(["a.txt", "echo more > b.txt"]);
  const { entries } = await view.get("conversation", { session: made.agent.session });
  expect(entries.find(({ type }) => type === "tool-use")?.tool?.title).toBe("a.txt");
});
