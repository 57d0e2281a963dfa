/** A profile that is proposed from what a real agent sent and wrote reads it as well as the packaged profile does. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endRecording, startRecording } from "../../src/agents/authoring/capture/record.ts";
import { checkAgent } from "../../src/agents/authoring/check.ts";
import { type Proposed, writeProposal } from "../../src/agents/authoring/propose/propose.ts";
import { problemsOf } from "../../src/agents/contract/schema.ts";
import { placeOf } from "../../src/agents/generic/place.ts";
import { getAgent, getPackaged } from "../../src/agents/registry/registry.ts";
import type { TemporaryDirectory } from "../support/index.ts";
import { eachInDirectory } from "../support/own-home.ts";

let place: TemporaryDirectory;
eachInDirectory((directory) => {
  place = directory;
});

interface Case {
  agent: string;
  transcript: string;
  session: string;
  /** Below the home directory; from the packaged profile's pattern where it has one. */
  at?: (root: string, session: string) => string;
}

const CASES: Case[] = [
  { agent: "qwen", transcript: "resumed.jsonl", session: "adbb29c2-0c18-4a04-858a-6c28bf4a88f6" },
  { agent: "kimi-code", transcript: "resumed.jsonl", session: "session_439d30bc-5a0a-4d43-9a06-3d579a389b2b" },
  { agent: "cline", transcript: "1794798186449_tbhoq.json", session: "1794798186449_tbhoq" },
  {
    agent: "claude-code",
    transcript: "three-turns.jsonl",
    session: "",
    at: (root, session) => `.claude/projects/${root.replace(/[^A-Za-z0-9]/g, "-")}/${session}.jsonl`,
  },
];

for (const { agent, transcript, session: given, at } of CASES) {
  describe(agent, () => {
    test("a profile is proposed that the check accepts", async () => {
      const { proposed, bytes, session, cwd } = await recordedAnew(agent, transcript, given, at);
      expect(problemsOf(proposed.profile)).toEqual([]);
      const report = await checkAgent(`my-${agent}`);
      expect(report.payloads.flatMap(({ problems }) => problems)).toEqual([]);
      expect(report).toMatchObject({ ok: true, problems: [], unproven: [] });
      const states = Object.fromEntries(report.proofs.map(({ what, state }) => [what, state]));
      expect(states).toMatchObject({ hooks: "proven", prompts: "proven", place: "proven", conversation: "proven" });
      expect(states["tokens"]).toBe("proven");
      expect(states["fork"]).not.toBe("proven");
      // As the packaged agent reads it.
      const own = (await getAgent(`my-${agent}`))?.analyzer?.readSlice(bytes, 0);
      const packaged = (await getPackaged(agent)).analyzer?.readSlice(bytes, 0);
      expect(own?.prompts).toEqual(packaged?.prompts ?? []);
      expect(own?.files).toEqual(packaged?.files ?? []);
      expect(own?.tokens).toEqual(packaged?.tokens);
      expect(own?.lastAnswer).toBe(packaged?.lastAnswer ?? null);
      expect(proposed.profile.transcript?.place ?? "").toContain("{session}");
      expect(session.length * cwd.length).toBeGreaterThan(0);
    });
  });
}

test("what the recording can't tell is named", async () => {
  const { proposed } = await recordedAnew("kimi-code", "resumed.jsonl", "session_439d30bc-5a0a-4d43-9a06-3d579a389b2b");
  const keys = proposed.doubts.map(({ kind, key }) => `${kind} ${key}`);
  expect(keys).toContain("guess resume");
  expect(keys).toContain("fork-untried transcript.fork");
  expect(keys).toContain("hooks-by-hand hooks.settings");
});

test("a recording is private, and nothing that is not JSON is copied", async () => {
  const home = place.at("home");
  mkdirSync(join(home, ".talker"), { recursive: true });
  writeFileSync(join(home, ".talker", "old.jsonl"), '{"role":"user"}\n');
  const started = await startRecording(request("talker", home, place.at("home/project")));
  await expect(startRecording(request("talker", home, home))).rejects.toMatchObject({ kind: "refused" });
  writeFileSync(join(home, ".talker", "new.jsonl"), '{"role":"user","content":"password=hunter2-hunter2-9f"}\n{"torn');
  writeFileSync(join(home, ".talker", "image.png"), "no");
  expect(started.look()).toEqual([join(home, ".talker", "new.jsonl")]);
  const directory = (await endRecording("talker")) ?? "";
  expect(await endRecording("talker")).toBeNull();
  expect(started.isActive()).toBe(false);
  expect(readdirSync(join(directory, "transcripts"))).toEqual(["new.jsonl"]);
  const copy = join(directory, "transcripts", "new.jsonl");
  expect(readFileSync(copy, "utf8")).not.toContain("hunter2");
  expect(readFileSync(copy, "utf8")).not.toContain("torn");
  expect([statSync(copy).mode & 0o777, statSync(directory).mode & 0o777]).toEqual([0o600, 0o700]);
});

function request(id: string, home: string, cwd: string) {
  mkdirSync(cwd, { recursive: true });
  return { id, home, cwd, watched: [], hooks: null, executable: "/opt/backtrail" };
}

/** Replays a recorded session in a home directory of its own, records it, and proposes a profile. */
async function recordedAnew(agent: string, transcript: string, given: string, at?: Case["at"]) {
  const id = `my-${agent}`;
  const home = place.at("home");
  const cwd = join(home, "project");
  const fixtures = join(import.meta.dirname, agent);
  const raw = readFileSync(join(fixtures, "transcripts", transcript), "utf8");
  const session = given || (/"sessionId":"([^"]+)"/.exec(raw)?.[1] ?? "");
  const oldRoot = /"cwd":"([^"]+)"/.exec(raw)?.[1] ?? "/home/dev/project";
  const { transcript: section } = (await getPackaged(agent)).profile;
  const path = at
    ? at(cwd, session)
    : `${section?.directory}/${section && placeOf(section.place ?? "", section, cwd, session)}`;
  const bytes = Buffer.from(raw.replaceAll(oldRoot, cwd).replaceAll("/home/dev/project", cwd));
  const started = await startRecording(request(id, home, cwd));
  for (const file of readdirSync(join(fixtures, "payloads")).sort()) {
    const payload = JSON.parse(readFileSync(join(fixtures, "payloads", file), "utf8"));
    const text = JSON.stringify(payload).replaceAll("/home/dev/project", cwd);
    const value = JSON.parse(text);
    // The recordings are of several sessions; these are all of one.
    if (value.session_id) value.session_id = session;
    if (value.sessionContext) value.sessionContext.rootSessionId = session;
    if (value.transcript_path) value.transcript_path = join(home, path);
    writeFileSync(join(started.directory, "payloads", file), JSON.stringify(value));
  }
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), bytes);
  started.look();
  const directory = (await endRecording(id)) ?? "";
  const proposed: Proposed = writeProposal(id, directory);
  return { proposed, bytes, session, cwd };
}
