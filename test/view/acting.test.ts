/** Plans, their application and what happens meanwhile, through a running viewer. */
import { expect, test } from "bun:test";
import { write } from "../support/index.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

async function newestTurn(view: ViewProcess): Promise<string> {
  const turn = (await view.get("timeline")).items.find((item) => item.kind === "turn");
  return turn?.id ?? "";
}

test("undo and redo change the files, and the plan is that of the command line", async () => {
  using made = await recorded();
  const { repository } = made;
  await using view = await startView(repository);
  const turn = await newestTurn(view);
  const plan = await view.post("plan", { action: "undo", turns: [turn] });
  if (plan.action !== "undo") throw new Error(plan.action);
  const told = await repository.json<{ plan: unknown }>(["undo", turn, "--dry-run"]);
  expect(plan.plan).toEqual(told.plan as never);
  expect([repository.exists("b.txt"), repository.read("a.txt")]).toEqual([true, "one\n2\n"]);
  const done = await view.post("apply", { plan: plan.id });
  expect(done).toMatchObject({ result: "restored", receipt: { written: 1, deleted: 1 } });
  expect([repository.exists("b.txt"), repository.read("a.txt")]).toEqual([false, "one\ntwo\n"]);
  expect((await view.get("timeline", { fate: "undone" })).items).toHaveLength(1);
  expect((await view.get("state")).redo).toBe(true);
  const back = await view.post("plan", { action: "redo" });
  await view.post("apply", { plan: back.id });
  expect([repository.exists("b.txt"), repository.read("a.txt")]).toEqual([true, "one\n2\n"]);
});

test("a plan is applied once", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const plan = await view.post("plan", { action: "rewind", target: await newestTurn(view), side: "before" });
  await view.post("apply", { plan: plan.id });
  expect(made.repository.read("a.txt")).toBe("one\ntwo\n");
  expect(view.post("apply", { plan: plan.id })).rejects.toThrow("has expired");
});

test("a plan for other files is drawn up again, and nothing is done", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const plan = await view.post("plan", { action: "rewind", target: await newestTurn(view), side: "before" });
  made.repository.write("a.txt", "mine\n");
  const answer = await view.post("apply", { plan: plan.id });
  if (answer.result !== "stale") throw new Error(answer.result);
  expect(made.repository.read("a.txt")).toBe("mine\n");
  expect(answer.plan.id).not.toBe(plan.id);
  expect((await view.post("apply", { plan: answer.plan.id })).result).toBe("restored");
  expect(made.repository.read("a.txt")).toBe("one\ntwo\n");
});

test("conflicts block the plan, unless they are written as markers", async () => {
  using made = await recorded();
  await made.agent.turn("Again", [write("a.txt", "one\nII\n")], "Done.");
  await using view = await startView(made.repository);
  const turns = (await view.get("timeline")).items.filter((item) => item.kind === "turn");
  const middle = turns[1]?.id ?? "";
  const plan = await view.post("plan", { action: "undo", turns: [middle] });
  expect(plan.blocked).not.toBe(null);
  expect(view.post("apply", { plan: plan.id })).rejects.toThrow("409");
  const marked = await view.post("plan", { action: "undo", turns: [middle], markers: true });
  expect(marked.blocked).toBe(null);
  await view.post("apply", { plan: marked.id });
  expect(made.repository.read("a.txt")).toContain("<<<<<<<");
});

test("save, fork and resume", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const saving = await view.post("plan", { action: "save", name: "a good state" });
  expect(await view.post("apply", { plan: saving.id })).toMatchObject({ result: "saved", name: "a good state" });
  const items = (await view.get("timeline")).items;
  expect(items[0]).toMatchObject({ kind: "saved", name: "a good state" });
  const forking = await view.post("plan", { action: "fork", target: await newestTurn(view), branch: "another-way" });
  expect(forking).toMatchObject({ action: "fork", branch: "another-way", chat: true });
  const forked = await view.post("apply", { plan: forking.id });
  if (forked.result !== "forked") throw new Error(forked.result);
  expect(made.repository.git("branch", "--list", "another-way")).toContain("another-way");
  const { fork, attempt } = await view.get("fork", { id: forked.fork.id });
  expect([fork.branch, attempt?.lines]).toEqual(["another-way", { added: 0, deleted: 0 }]);
  const resume = await view.post("plan", { action: "resume", session: made.agent.session });
  expect(resume).toMatchObject({ action: "resume", command: `backtrail resume ${made.agent.session}` });
});

test("nothing can be changed with --read-only", async () => {
  using made = await recorded();
  await using view = await startView(made.repository, { args: ["--read-only"] });
  expect((await view.get("state")).readOnly).toBe(true);
  expect(view.post("plan", { action: "redo" })).rejects.toThrow("403");
});

test("an action that is not known, or not well formed, is refused", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const bodies = [
    {},
    { action: "shell" },
    { action: "undo", turns: "x" },
    { action: "rewind", target: "HEAD", side: "up" },
  ];
  for (const body of bodies) expect(view.post("plan", body as never)).rejects.toThrow("400");
  expect(view.post("plan", { action: "rewind", target: "HEAD", side: "exact" })).rejects.toThrow("404");
});

test("the changes of a rewind can be looked at line by line before it is confirmed", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  made.repository.write("a.txt", "one\nmine\n");
  const plan = await view.post("plan", { action: "rewind", target: await newestTurn(view), side: "before" });
  if (plan.action !== "rewind" || !plan.preview) throw new Error("no preview");
  const { files } = await view.get("changes", plan.preview);
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ["a.txt", "modified"],
    ["b.txt", "deleted"],
  ]);
  const diff = await view.get("fileDiff", { ...plan.preview, path: "a.txt" });
  if (diff.kind !== "text") throw new Error(diff.kind);
  expect(diff.hunks[0]?.lines).toEqual([" one", "-mine", "+two"]);
});

test("while a plan is open, a change of its files is reported; that of other files is not", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const events = view.events();
  await events.next();
  await view.post("plan", { action: "rewind", target: await newestTurn(view), side: "before" });
  made.repository.write("other.txt", "not in the plan\n");
  // What was reported of the other file would come first.
  await made.repository.run(["save", "between"]);
  const seen: string[] = [];
  const next = async (topic: string) => {
    for (;;) {
      const { value } = await events.next();
      const topics = value && "topics" in value.data ? value.data.topics : [];
      seen.push(...topics);
      if (topics.some((one: string) => one === topic)) return;
    }
  };
  await next("timeline");
  expect(seen).not.toContain("worktree");
  made.repository.write("a.txt", "mine\n");
  await next("worktree");
  await events.return(undefined);
});
