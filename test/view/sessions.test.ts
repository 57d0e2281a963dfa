/** Sessions, conversations, blame, commits and runs of a running viewer. */
import { expect, test } from "bun:test";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a session has its prompts, and each leads to its place in the conversation", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const { sessions } = await view.get("sessions");
  expect(sessions.map(({ id, agent, turns }) => [id, agent, turns])).toEqual([[made.agent.session, "claude-code", 2]]);
  const { turns, entries, resume } = await view.get("session", { id: made.agent.session });
  expect(turns.map(({ number, prompt, fate }) => [number, prompt, fate])).toEqual([
    [1, "Add a file", "kept"],
    [2, "Change it", "kept"],
  ]);
  expect(resume).toBe(`backtrail resume ${made.agent.session}`);
  const page = await view.get("conversation", { session: made.agent.session });
  expect([page.entries.length, page.next]).toEqual([entries as number, null]);
  for (const { entry, prompt } of turns)
    expect(page.entries[entry ?? -1]).toMatchObject({ type: "prompt", text: prompt });
  const parts: unknown[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const part: typeof page = await view.get("conversation", {
      session: made.agent.session,
      from: String(from),
      limit: "3",
    });
    parts.push(...part.entries);
    from = part.next;
  }
  expect(parts).toEqual(page.entries);
});

test("images of prompts and of tools' results are found in the transcript; anything else is none", async () => {
  using made = await recorded();
  const { agent } = made;
  const data = PIXEL;
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const svg = { type: "image", source: { type: "base64", media_type: "image/png", data: btoa("<svg onload=x>") } };
  await agent.begin("What is this?");
  agent.transcript.user([image, svg, { type: "text", text: "See the picture" }], "prompt-with-image");
  const use = (id: string) => ({ type: "tool_use", id, name: "Read", input: { file_path: `${id}.png` } });
  agent.transcript.assistant([use("with"), use("without")]);
  const result = (id: string, content: unknown) => ({ type: "tool_result", tool_use_id: id, content });
  agent.transcript.user([result("without", "nothing in base64"), result("with", [image])], "results");
  await agent.finish("A pixel.");
  await using view = await startView(made.repository);
  const { session } = agent;
  const { entries } = await view.get("sessionImages", { session });
  const all = (await view.get("conversation", { session })).entries;
  const kinds = entries.map((index) => [all[index]?.type, all[index]?.text || all[index]?.tool?.id]);
  expect(kinds).toEqual([
    ["prompt", "See the picture"],
    ["tool-result", "with"],
  ]);
  for (const index of entries)
    expect((await view.get("entryImages", { session, index: String(index) })).images).toEqual([
      { mediaType: "image/png", base64: data, bytes: Buffer.from(data, "base64").length },
    ]);
});

test("blame names the turn behind a line, and only recorded files can be named", async () => {
  using made = await recorded();
  made.repository.write(".gitignore", ".env\n");
  made.repository.write(".env", "KEY=1\n");
  await using view = await startView(made.repository);
  const { lines, turns } = await view.get("blame", { path: "a.txt" });
  expect(lines.map(({ text, turn }) => [text, turns[turn ?? -1]?.prompt])).toEqual([
    ["one", "Add a file"],
    ["2", "Change it"],
  ]);
  for (const path of [".env", "../home", ".git/config", "/etc/passwd", "./a.txt"])
    expect(view.get("blame", { path })).rejects.toThrow("404");
});

test("a commit names the sessions behind it", async () => {
  using made = await recorded();
  const { repository } = made;
  const id = repository.commit("Work of the agent");
  await repository.run(["doctor"]);
  await using view = await startView(repository);
  const { commits } = await view.get("commits");
  expect(commits.map(({ subject }) => subject)).toEqual(["Work of the agent", "first"]);
  const { files, commit } = await view.get("commit", { id });
  expect(commit.subject).toBe("Work of the agent");
  expect(files.map(({ path }) => path)).toContain("a.txt");
  const [newest] = (await view.get("timeline")).items;
  expect(newest?.kind).toBe("turn");
});

test("search finds a turn, marks the match, and the repository is listed", async () => {
  using made = await recorded();
  await using view = await startView(made.repository);
  const answer = await view.get("search", { q: "change", here: "1" });
  if (!answer.available) throw new Error("not available");
  const hit = answer.hits.find(({ field }) => field === "prompt");
  expect(hit?.snippet).toBe("\u0001Change\u0002 it");
  const [newest] = (await view.get("timeline")).items;
  expect([hit?.id, hit?.fate.state]).toEqual([newest?.id as string, "kept"]);
  const { repositories } = await view.get("repositories");
  expect(repositories).toHaveLength(1);
});
