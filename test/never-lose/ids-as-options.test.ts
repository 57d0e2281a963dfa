/** An id that came from a remote, a payload or a transcript is never an option of a program that is started. */

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { getPackaged } from "../../src/agents/registry/registry.ts";
import { forkOf } from "../../src/agents/shared/fork.ts";
import { resumeCommand } from "../../src/agents/shared/resume.ts";
import { parseSessionMetadata } from "../../src/checkpoints/format/parse.ts";
import { ObjectReader } from "../../src/git/objects/reader.ts";
import { requireWorkspace } from "../../src/git/workspace.ts";
import { shellText } from "../../src/model/command.ts";
import { commandOf } from "../../src/run/command.ts";
import { BRANCH, commitFiles, exampleCheckpoint, ID } from "../checkpoints/branch.ts";
import { temporaryDirectory, temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

const EVIL = ["--dangerously-skip-permissions", "-x", "-", "a\nb", "a\u0007b", ""];

test("the command that continues a session, of every agent", async () => {
  for (const name of Object.keys(PACKAGED)) {
    const { profile } = await getPackaged(name);
    if (!profile.resume?.some((word) => word.includes("{session}"))) continue;
    for (const id of EVIL)
      expect({ name, id, command: shellText(resumeCommand(profile, id)) }).toEqual({ name, id, command: "" });
    expect(shellText(resumeCommand(profile, "a1b2"))).toContain("a1b2");
    expect(shellText(resumeCommand(profile, "a; rm -rf ~"))).toContain("a; rm -rf ~'");
  }
});

test("a run that continues a session, of every agent", async () => {
  const ask = { prompt: "x", model: null, newSession: "new", context: null, args: [] };
  for (const name of Object.keys(PACKAGED)) {
    const { run } = (await getPackaged(name)).profile;
    if (!run?.resume) continue;
    for (const session of EVIL) expect(() => commandOf(run, { ...ask, session })).toThrow("can't be the id");
    expect(commandOf(run, { ...ask, session: "a1b2" }).args.join(" ")).toContain("a1b2");
  }
});

test("a copy of a conversation gets no such id, whichever agent it is for", async () => {
  using place = temporaryDirectory();
  for (const name of Object.keys(PACKAGED)) {
    const { forker } = await getPackaged(name);
    if (!forker) continue;
    for (const newSessionId of EVIL) {
      const request = { bytes: Buffer.from("{}\n"), lastId: null, title: "x", projectRoot: place.path, newSessionId };
      const transcriptPath = place.at("home", "x", "y.jsonl");
      // Copies of OpenCode and of Kilo, which is made from it, get ids of another form, made here.
      if (["kilo", "opencode"].includes(name))
        expect(forkOf(forker, { ...request, transcriptPath }).sessionId).toStartWith("ses_");
      else expect(() => forkOf(forker, { ...request, transcriptPath })).toThrow("can't be the id");
    }
  }
});

test("a remote's checkpoint with such a session id", async () => {
  const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
  const files = exampleCheckpoint(hash);
  const own = /"session_id": "([^"]+)"/.exec(Object.values(files).join("\n"))?.[1] ?? "none";
  for (const id of EVIL.slice(0, 3)) {
    expect(parseSessionMetadata(Buffer.from(JSON.stringify({ session_id: id })))).toMatchObject({ ok: false });
    using world = new StandIn();
    const { repository } = world;
    const bad = Object.entries(files).map(([path, text]) => [path, text.replaceAll(own, id)] as const);
    commitFiles(repository, BRANCH, Object.fromEntries(bad));
    repository.git("commit", "--quiet", "--allow-empty", "-m", `greet\n\nEntire-Checkpoint: ${ID}`);
    world.agent("claude", 'for a; do printf "%s\\n" "$a" >> "$CALLED"; done');
    await repository.run(["enable", "--agent", "claude-code"]);
    for (const target of [ID, "HEAD"]) {
      const env = world.environment();
      const result = await repository.run(["resume", target, "--run", "--yes"], { env });
      expect(result.stdout).not.toContain(`--resume ${id}`);
      if (existsSync(world.called)) expect(readFileSync(world.called, "utf8").split("\n")).not.toContain(id);
      await repository.run(["explain", target, "--conversation"], { env });
    }
  }
});

test("a session of a hook's that has such an id is recorded under a name that is none", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const id = "--dangerously-skip-permissions";
  const directory = join(repository.home, ".claude", "projects", "x");
  mkdirSync(directory, { recursive: true });
  const payload = { session_id: id, cwd: repository.path, prompt: "x" };
  await repository.hook("claude-code", "user-prompt-submit", { ...payload, hook_event_name: "UserPromptSubmit" });
  await repository.hook("claude-code", "stop", { ...payload, hook_event_name: "Stop" });
  const { sessions } = await repository.json<{ sessions: { id: string }[] }>(["status"]);
  expect(sessions.map((session) => session.id)).toEqual([`_${id}`]);
});

test("a name with a line end is not a second question to git", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const reader = new ObjectReader(requireWorkspace(repository.path));
  try {
    expect(await reader.read("HEAD\ncontents HEAD^{tree}")).toBeUndefined();
    expect((await reader.read("HEAD"))?.type).toBe("commit");
    expect((await reader.read("HEAD^{tree}"))?.type).toBe("tree");
  } finally {
    reader.close();
  }
  expect(readdirSync(repository.path)).toContain("README.md");
});
