/** Sessions, conversations, blame, commits and runs of a running viewer. */
import { expect, test } from "bun:test";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

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
