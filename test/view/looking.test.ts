/** One turn, its diff, and files at any step, from a running viewer. */
import { expect, test } from "bun:test";
import { bash, write } from "../support/index.ts";
import { Recording } from "../support/recording.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

async function turnsOf(view: ViewProcess) {
  return (await view.get("timeline")).items.filter((item) => item.kind === "turn");
}

async function statusOf(failed: Promise<unknown>): Promise<number | undefined> {
  return failed.then(
    () => undefined,
    (error: { status: number }) => error.status,
  );
}

test("a turn has its texts, its tool calls in order, and its neighbors", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const [newest, oldest] = await turnsOf(view);
  const turn = await view.get("turn", { id: newest?.id ?? "" });
  expect([turn.prompt, turn.answer]).toEqual(["Change it", "Changed."]);
  expect(turn.tools.map(({ name, kind, title }) => [name, kind, title.split("/").at(-1) as string])).toEqual([
    ["Edit", "write", "a.txt"],
    ["Bash", "shell", "echo more > b.txt"],
  ]);
  expect([turn.previous, turn.next]).toEqual([oldest?.id as string, null]);
  const call = await view.get("toolCall", { turn: turn.turn.id, call: turn.tools[1]?.id ?? "" });
  expect(call.input).toContain("echo more > b.txt");
});

test("a turn whose transcript was never there says so", async () => {
  using made = await Recording.begin();
  const { repository } = made;
  await made.hook("UserPromptSubmit", { prompt: "Work in silence" });
  repository.write("silent.txt", "done\n");
  await made.hook("Stop", { stop_hook_active: false, last_assistant_message: "Done." });
  await using view = await startView(repository);
  const [silent] = await turnsOf(view);
  const { noTools, tools } = await view.get("turn", { id: silent?.id ?? "" });
  expect(noTools).toBe("no-transcript");
  expect(tools).toEqual([]);
});

test("a search is titled by what it looks for, and a call that failed says so, in the turn and in the session", async () => {
  using made = await recorded();
  const { agent, repository } = made;
  const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const result = (id: string, isError: boolean) => ({
    type: "tool_result",
    tool_use_id: id,
    content: isError ? "not found" : "a.txt",
    ...(isError ? { is_error: true } : {}),
  });
  await agent.begin("Look for it");
  agent.transcript.assistant([
    use("look", "Grep", { pattern: "needle", path: repository.path }),
    use("run", "Bash", { command: "find-it" }),
  ]);
  agent.transcript.user([result("look", false), result("run", true)], "results");
  await agent.finish("It is not there.");
  await using view = await startView(repository);
  const [newest] = await turnsOf(view);
  const { tools } = await view.get("turn", { id: newest?.id ?? "" });
  expect(tools.map(({ title, failed }) => [title, failed])).toEqual([
    ["needle", false],
    ["find-it", true],
  ]);
  const { entries } = await view.get("conversation", { session: agent.session });
  expect(entries.filter(({ failed }) => failed).map(({ tool }) => tool?.id)).toEqual(["run"]);
});

test("the diff of a turn has its files, and each file its hunks", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const [newest] = await turnsOf(view);
  const turn = newest?.id ?? "";
  const { files, lines } = await view.get("changes", { turn });
  expect(files.map(({ path, status, lines }) => ({ path, status, lines }))).toEqual([
    { path: "a.txt", status: "modified", lines: { added: 1, deleted: 1 } },
    { path: "b.txt", status: "added", lines: { added: 1, deleted: 0 } },
  ]);
  expect(lines).toEqual({ added: 2, deleted: 1 });
  expect(await view.get("fileDiff", { turn, path: "a.txt" })).toMatchObject({
    kind: "text",
    hunks: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" one", "-two", "+2"] }],
    next: null,
  });
  expect(await view.get("fileDiff", { turn, path: "b.txt" })).toMatchObject({
    kind: "text",
    hunks: [{ lines: ["+more"] }],
  });
});

test("the slider's moments lead to the tree and the files of each", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const { moments } = await view.get("moments");
  const ends = moments.filter(({ kind }) => kind === "turn-end");
  expect(ends.map(({ prompt }) => prompt)).toEqual(["Add a file", "Change it"]);
  const texts: unknown[] = [];
  for (const { step } of ends) {
    const file = await view.get("file", { step, path: "a.txt" });
    texts.push(file.kind === "text" && file.text);
  }
  expect(texts).toEqual(["one\ntwo", "one\n2"]);
  const { entries } = await view.get("tree", { step: ends[1]?.step ?? "" });
  expect(entries.map(({ name }) => name)).toContain("b.txt");
  const own = await view.get("moments", { path: "b.txt" });
  expect(own.moments.map(({ change }) => change)).toEqual(["added"]);
});

test("images are shown, other binary files are not, and a long diff comes in parts", async () => {
  using made = await recorded();
  const { repository, agent } = made;
  repository.write("p.png", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20)]));
  const long = Array.from({ length: 12_000 }, (_, i) => `line ${i}`).join("\n");
  await agent.turn("Images", [bash("cp p.png q.png; head -c 100 /dev/zero > z.bin"), write("long.txt", long)], "Done.");
  await using view = await startView(repository);
  const [newest] = await turnsOf(view);
  const turn = newest?.id ?? "";
  expect((await view.get("fileDiff", { turn, path: "q.png" })).kind).toBe("image");
  expect(await view.get("fileDiff", { turn, path: "z.bin" })).toMatchObject({
    kind: "binary",
    before: null,
    after: 100,
  });
  const seen: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const part: Awaited<ReturnType<typeof view.get<"fileDiff">>> = await view.get("fileDiff", {
      turn,
      path: "long.txt",
      offset: String(offset),
    });
    if (part.kind !== "text") throw new Error(part.kind);
    for (const hunk of part.hunks) {
      expect(hunk.newStart).toBe(seen.length + 1);
      seen.push(...hunk.lines.filter((line) => line.startsWith("+")));
    }
    offset = part.next;
  }
  expect(seen).toHaveLength(12_000);
});

test("secrets are placeholders until the user asks for them", async () => {
  using made = await recorded();
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  await made.agent.turn(`Use ${secret}`, [write("key.txt", `token = "${secret}"\n`)], `Used ${secret}.`);
  await using view = await startView(made.repository);
  const [newest] = await turnsOf(view);
  const id = newest?.id ?? "";
  const shown = async (reveal: { reveal?: "1" }) =>
    JSON.stringify([
      await view.get("turn", { id, ...reveal }),
      await view.get("fileDiff", { turn: id, path: "key.txt", ...reveal }),
      await view.get("file", { step: id, path: "key.txt", ...reveal }),
    ]);
  expect(JSON.stringify(newest)).not.toContain(secret);
  expect(await shown({})).not.toContain(secret);
  expect((await shown({ reveal: "1" })).split(secret).length).toBeGreaterThan(3);
});

test("no path outside of a recorded state can be read", async () => {
  using made = await recorded();
  made.repository.write("unrecorded.txt", "later\n");
  await using view = await startView(made.repository);
  const step = (await turnsOf(view))[0]?.id ?? "";
  const paths = ["../home/x", "/etc/passwd", "..", ".git/config", "a.txt/../b.txt", "unrecorded.txt", "a.txt\0"];
  for (const path of paths)
    expect([path, await statusOf(view.get("file", { step, path }))]).not.toEqual([path, undefined]);
  for (const state of ["HEAD", "main", "--all", "tree:4b825dc642cb6eb9a060e54bf8d69288fbee4904"])
    expect(await statusOf(view.get("tree", { step: state }))).toBe(404);
});
