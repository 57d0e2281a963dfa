/** Every agent of ours over the external-agent protocol, and one that is a script of somebody else's. */
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Info, WireTokens } from "../../src/agents/external/protocol.ts";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { getPackaged } from "../../src/agents/registry/registry.ts";
import { Program } from "./program.ts";
import { conforms } from "./protocol.ts";
import { eventOf, Recordings, UNRECORDED } from "./recordings.ts";

const subjects = [
  ...Object.keys(PACKAGED).map((id) => ({
    name: id,
    open: () => new Program(`entire-agent-${id}`),
    fixtures: join(import.meta.dirname, "..", "agents", id),
  })),
  {
    name: "parrot",
    open: () => new Program("backtrail-agent-parrot", join(import.meta.dirname, "example-agent", "parrot.mjs")),
    fixtures: join(import.meta.dirname, "example-agent"),
  },
];

for (const subject of subjects) {
  using program = subject.open();
  const info = JSON.parse((await program.run(["info"])).stdout) as Info;
  conforms({ ...subject, info });
}

describe("recorded payloads", () => {
  const types = { SessionStart: 1, TurnStart: 2, TurnEnd: 3, SessionEnd: 5 } as const;
  for (const id of Object.keys(PACKAGED)) {
    const payloads = join(import.meta.dirname, "..", "agents", id, "payloads");
    if (!existsSync(payloads)) continue;
    test(`${id}: mean the same to another host`, async () => {
      using program = new Program(`entire-agent-${id}`);
      const agent = await getPackaged(id);
      const recordings = new Recordings(agent, payloads);
      for (const [type, number] of Object.entries(types)) {
        const recording = recordings.of(type as keyof typeof types);
        if (UNRECORDED[id]?.includes(type)) continue;
        if (!recording) throw new Error(`there is no payload for ${type}`);
        const event = eventOf(agent, recording);
        expect(await program.json(["parse-hook", "--hook", recording.verb], recording.raw)).toMatchObject({
          type: number,
          session_id: event?.sessionId,
          ...(event?.prompt && { prompt: event.prompt }),
        });
      }
    });
  }
});

test("subagents' files and tokens count with the session's", async () => {
  using program = new Program("entire-agent-claude-code");
  const recorded = join(import.meta.dirname, "..", "agents", "claude-code", "transcripts");
  const directory = join(program.repository.home, "subagents");
  mkdirSync(directory);
  copyFileSync(join(recorded, "subagent.jsonl"), join(directory, "agent-1.jsonl"));
  const bytes = readFileSync(join(recorded, "three-turns.jsonl"));
  const flags = ["--offset", "0", "--subagents-dir", directory];
  const total = await program.json<WireTokens>(["calculate-total-tokens", ...flags], bytes);
  expect(total.output_tokens).toBeGreaterThan(0);
  expect(total.subagent_tokens?.output_tokens).toBeGreaterThan(0);
  const own = await program.json<{ files: string[] }>(
    ["extract-all-modified-files", ...flags.slice(0, 3), "/nowhere"],
    bytes,
  );
  const all = await program.json<{ files: string[] }>(["extract-all-modified-files", ...flags], bytes);
  expect(all.files.length).toBeGreaterThan(own.files.length);
});

test("a session tells new files from modified and deleted ones", async () => {
  using program = new Program("entire-agent-claude-code");
  const { repository } = program;
  const names = ["old.txt", "new.txt", "gone.txt"];
  for (const name of ["old.txt", "gone.txt"]) repository.write(name, "1\n");
  repository.commit("first");
  repository.write("new.txt", "1\n");
  rmSync(repository.at("gone.txt"));
  const uses = names.map((name) => ({
    type: "tool_use",
    id: name,
    name: "Write",
    input: { file_path: repository.at(name) },
  }));
  const results = names.map((name) => ({ type: "tool_result", tool_use_id: name, content: "ok" }));
  const line = (type: string, uuid: string, content: object[]) =>
    JSON.stringify({
      type,
      uuid,
      parentUuid: null,
      isSidechain: false,
      sessionId: "s",
      message: { role: type, content },
    });
  const ref = join(repository.home, "s.jsonl");
  writeFileSync(ref, `${line("assistant", "1", uses)}\n${line("user", "2", results)}\n`);
  const below = (list: string[] | undefined) => list?.map((path) => basename(path));
  const lists = async () => {
    const asked = { session_id: "s", session_ref: ref };
    const session = await program.json<Record<string, string[]>>(["read-session"], asked);
    return [session["modified_files"], session["new_files"], session["deleted_files"]].map(below);
  };
  expect(await lists()).toEqual([["old.txt"], ["new.txt"], ["gone.txt"]]);
  // Before the first commit, every file is new.
  repository.git("update-ref", "-d", "HEAD");
  expect(await lists()).toEqual([[], ["old.txt", "new.txt"], ["gone.txt"]]);
});

test("the same agent by its three names", async () => {
  using linked = new Program("entire-agent-gemini");
  using own = new Program("backtrail-agent-gemini");
  using plain = new Program("backtrail");
  const info = await linked.json(["info"]);
  expect(await own.json(["info"])).toEqual(info);
  expect(await plain.json(["agent-protocol", "gemini", "info"])).toEqual(info);
});

test("an unknown name", async () => {
  using program = new Program("entire-agent-nobody");
  expect((await program.fails(["info"])).stderr).toContain('There is no agent "nobody" to serve.');
});

test("hooks that a whole team shares are ours, not the host's", async () => {
  using program = new Program("entire-agent-claude-code");
  const { repository } = program;
  await repository.run(["enable", "--agent", "claude-code", "--scope", "project"]);
  const before = repository.read(".claude/settings.json");
  expect(before).toContain("then backtrail hooks claude-code stop");
  expect(await program.json(["are-hooks-installed"])).toEqual({ installed: false });
  await program.text(["install-hooks"]);
  await program.text(["uninstall-hooks"]);
  expect(repository.read(".claude/settings.json")).toBe(before);
});

test("hooks that are lent call the host, and leave ours alone", async () => {
  using program = new Program("entire-agent-claude-code");
  const { repository } = program;
  await repository.run(["enable", "--agent", "claude-code"]);
  const before = repository.read(".claude/settings.local.json");
  await program.text(["install-hooks"]);
  expect(repository.read(".claude/settings.local.json")).toContain("then entire hooks claude-code stop");
  await program.text(["uninstall-hooks"]);
  expect(repository.read(".claude/settings.local.json")).toBe(before);
});

test("hooks in a file that cannot be read are not known, which is a failure and not a no", async () => {
  using program = new Program("entire-agent-claude-code");
  const damaged = '{"hooks": {';
  program.repository.write(".claude/settings.local.json", damaged);
  for (const subcommand of ["are-hooks-installed", "uninstall-hooks", "install-hooks"]) {
    const { stdout, stderr } = await program.fails([subcommand]);
    expect(stdout).toBe("");
    expect(stderr).toContain("settings.local.json");
  }
  expect(program.repository.read(".claude/settings.local.json")).toBe(damaged);
});
