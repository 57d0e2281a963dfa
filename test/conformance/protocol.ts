/** The protocol's conformance suite: what a host may expect of any agent, whoever wrote it. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Info } from "../../src/agents/external/protocol.ts";
import type { Program } from "./program.ts";
import { NEVER_RUN } from "./recordings.ts";

const SESSION = "0d9e1c56-5f5b-4f0e-9d7e-2f1f5c1f6a10";
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** Of each kind one is enough: they are read in full elsewhere. */
const MAX_TRANSCRIPTS = 4;
const CAPABILITIES = [
  "hooks",
  "transcript_analyzer",
  "transcript_preparer",
  "token_calculator",
  "text_generator",
  "hook_response_writer",
  "subagent_aware_extractor",
] as const;

export interface Subject {
  name: string;
  info: Info;
  /** Makes the program, ready to be called. */
  open(): Program;
  /** Recordings of its payloads and transcripts. */
  fixtures: string;
}

export function conforms({ name, info, open, fixtures }: Subject): void {
  const { capabilities, hook_names: hookNames } = info;
  /** What is not claimed is not expected. */
  const testIf = (claimed: boolean | undefined): ((what: string, work: () => Promise<void>) => void) =>
    claimed ? test : () => {};
  const transcripts = filesIn(join(fixtures, "transcripts")).slice(0, MAX_TRANSCRIPTS);
  /** Nothing is left behind by a call, so that all but the hooks' own tests can share a place. */
  const program = open();
  afterAll(() => program[Symbol.dispose]());

  describe(`${name}: identity`, () => {
    test("says who it is and what it can do", () => {
      expect(info).toMatchObject({
        protocol_version: 1,
        name,
        type: expect.any(String),
        description: expect.any(String),
        is_preview: expect.any(Boolean),
        protected_dirs: expect.any(Array),
        hook_names: expect.any(Array),
      });
      for (const capability of CAPABILITIES) expect(typeof capabilities[capability]).toBe("boolean");
      expect(hookNames.length > 0).toBe(capabilities.hooks === true);
      expect(new Set(hookNames).size).toBe(hookNames.length);
    });

    test("says whether it is there", async () => {
      expect(await program.json(["detect"])).toEqual({ present: expect.any(Boolean) });
    });

    test("what it does not know or claim fails, with words", async () => {
      const unknown = await program.fails(["make-coffee"]);
      expect(unknown.stderr.trim()).not.toBe("");
      await program.fails([]);
      if (!capabilities.text_generator) await program.fails(["generate-text", "--model", "x"], "hello");
      if (!capabilities.hooks) await program.fails(["parse-hook", "--hook", "stop"], "{}");
      if (!capabilities.transcript_analyzer) await program.fails(["extract-summary", "--session-ref", "x"]);
    });

    test("invalid JSON and missing flags fail", async () => {
      for (const args of [["get-session-id"], ["read-session"], ["write-session"], ["reassemble-transcript"]]) {
        const { stderr } = await program.fails(args, "{not json");
        expect(stderr.trim()).not.toBe("");
      }
      await program.fails(["get-session-dir"]);
      await program.fails(["read-transcript"]);
      await program.fails(["read-transcript", "--session-ref", join(program.repository.home, "nowhere.jsonl")]);
    });
  });

  describe(`${name}: sessions`, () => {
    test("an id, a directory, a file that holds the id, a command", async () => {
      const input = hookInput(program, "stop");
      expect(await program.json(["get-session-id"], input)).toEqual({ session_id: SESSION });
      const place = await program.json<{ session_dir: string }>([
        "get-session-dir",
        "--repo-path",
        program.repository.path,
      ]);
      expect(isBelow(program.repository, place.session_dir)).toBe(true);
      const resolve = ["resolve-session-file", "--session-dir", place.session_dir, "--session-id", SESSION];
      const { session_file: file } = await program.json<{ session_file: string }>(resolve);
      expect(file.startsWith(place.session_dir)).toBe(true);
      expect(file).toContain(SESSION);
      const resume = ["format-resume-command", "--session-id", SESSION];
      const { command } = await program.json<{ command: string }>(resume);
      expect(command.trim()).not.toBe("");
    });

    test("a hook that names no session is no failure, but there is nothing to read", async () => {
      const nameless = { ...hookInput(program, "stop"), session_id: "" };
      for (const input of [nameless, {}]) {
        const { session_id: id } = await program.json<{ session_id: string }>(["get-session-id"], input);
        expect(typeof id).toBe("string");
      }
      await program.fails(["read-session"], {});
    });

    test("written data is read back", async () => {
      const ref = join(program.repository.home, "sessions", `${SESSION}.jsonl`);
      const bytes = Buffer.from('{"role":"user","text":"héllo"}\n\u0000\n');
      await program.text(["write-session"], {
        session_id: SESSION,
        agent_name: name,
        repo_path: program.repository.path,
        session_ref: ref,
        start_time: "2026-01-05T09:00:00Z",
        native_data: bytes.toString("base64"),
        modified_files: [],
        new_files: [],
        deleted_files: [],
      });
      const session = await program.json(["read-session"], { ...hookInput(program, "stop"), session_ref: ref });
      expect(session).toMatchObject({
        session_id: SESSION,
        agent_name: name,
        repo_path: program.repository.path,
        session_ref: ref,
        start_time: expect.stringMatching(RFC_3339),
        native_data: bytes.toString("base64"),
        modified_files: expect.any(Array),
        new_files: expect.any(Array),
        deleted_files: expect.any(Array),
      });
      expect(await program.text(["read-transcript", "--session-ref", ref])).toBe(bytes.toString("utf8"));
    });
  });

  describe(`${name}: chunks`, () => {
    const long = `${Array.from({ length: 40 }, (_, i) => `{"n":${i},"text":"line number ${i}"}`).join("\n")}\n`;
    const cases: [string, string][] = [
      ["lines", long],
      ["one long line", `{"text":"${"x".repeat(3_000)}"}`],
      ["a torn end", long.slice(0, -7)],
    ];
    for (const [what, content] of cases) {
      test(`${what} come back byte for byte`, async () => {
        const chunked = await program.json<{ chunks: string[] }>(["chunk-transcript", "--max-size", "512"], content);
        expect(chunked.chunks.length).toBeGreaterThanOrEqual(2);
        for (const chunk of chunked.chunks) expect(Buffer.from(chunk, "base64").length).toBeLessThanOrEqual(512);
        expect(await program.text(["reassemble-transcript"], chunked)).toBe(content);
      });
    }

    test("a small transcript is one chunk; a size of zero fails", async () => {
      const chunked = await program.json<{ chunks: string[] }>(["chunk-transcript", "--max-size", "512"], "{}\n");
      expect(chunked.chunks).toHaveLength(1);
      expect(await program.text(["reassemble-transcript"], chunked)).toBe("{}\n");
      await program.fails(["chunk-transcript", "--max-size", "0"], "{}\n");
    });
  });

  describe(`${name}: hooks`, () => {
    testIf(capabilities.hooks)("are put in place once, and taken out", async () => {
      using program = open();
      const installed = () => program.json<{ installed: boolean }>(["are-hooks-installed"]);
      expect(await installed()).toEqual({ installed: false });
      const first = await program.json<{ hooks_installed: number }>(["install-hooks"]);
      expect(first.hooks_installed).toBeGreaterThan(0);
      expect(await installed()).toEqual({ installed: true });
      expect(await program.json(["install-hooks"])).toEqual({ hooks_installed: 0 });
      const forced = await program.json<{ hooks_installed: number }>(["install-hooks", "--force"]);
      expect(forced.hooks_installed).toBeGreaterThan(0);
      await program.text(["uninstall-hooks"]);
      expect(await installed()).toEqual({ installed: false });
      await program.text(["install-hooks", "--local-dev"]);
      await program.text(["uninstall-hooks"]);
      expect(program.repository.git("status", "--porcelain")).toBe("");
    });

    testIf(capabilities.hooks)("are put in place where there is no repository, too", async () => {
      using program = open();
      program.root = join(program.repository.home, "plain");
      mkdirSync(program.root);
      const first = await program.json<{ hooks_installed: number }>(["install-hooks"]);
      expect(first.hooks_installed).toBeGreaterThan(0);
      expect(await program.json(["are-hooks-installed"])).toEqual({ installed: true });
      await program.text(["uninstall-hooks"]);
      expect(await program.json(["are-hooks-installed"])).toEqual({ installed: false });
    });

    testIf(capabilities.hooks)("mean an event or nothing, and nothing is no failure", async () => {
      await Promise.all(
        hookNames.map(async (hook) => {
          const empty = (await program.text(["parse-hook", "--hook", hook], "")).trim();
          expect(["", "null"]).toContain(empty);
          requireEvent(await program.text(["parse-hook", "--hook", hook], hookInput(program, hook)));
        }),
      );
      await program.fails(["parse-hook", "--hook", hookNames[0] ?? ""], "{not json");
    });

    testIf(capabilities.hook_response_writer)("are answered in the agent's own words", async () => {
      expect(await program.text(["write-hook-response", "--message", "recording"])).toContain("recording");
    });
  });

  describe(`${name}: transcripts`, () => {
    testIf(capabilities.transcript_analyzer)("one that is missing says nothing", async () => {
      const path = join(program.repository.home, "nowhere.jsonl");
      expect(await program.json(["get-transcript-position", "--path", path])).toEqual({ position: 0 });
      const files = await program.json(["extract-modified-files", "--path", path, "--offset", "0"]);
      expect(files).toEqual({ files: [], current_position: 0 });
    });

    testIf(capabilities.transcript_analyzer)("one of another kind says nothing", async () => {
      const path = program.transcript("{}");
      const { position } = await program.json<{ position: number }>(["get-transcript-position", "--path", path]);
      expect(position).toBeGreaterThanOrEqual(0);
      expect(await program.json(["extract-prompts", "--session-ref", path, "--offset", "0"])).toEqual({ prompts: [] });
      expect(await program.json(["extract-summary", "--session-ref", path])).toMatchObject({ has_summary: false });
    });

    testIf(capabilities.transcript_analyzer && !NEVER_RUN.includes(name))(
      "recorded ones contain prompts, files and the last words",
      async () => {
        expect(transcripts.length).toBeGreaterThan(0);
        let prompts = 0;
        let summaries = 0;
        for (const file of transcripts) {
          const path = program.transcript(readFileSync(join(fixtures, "transcripts", file)));
          const { position } = await program.json<{ position: number }>(["get-transcript-position", "--path", path]);
          const told = await program.json<{ files: string[]; current_position: number }>([
            "extract-modified-files",
            "--path",
            path,
            "--offset",
            "0",
          ]);
          expect(told.current_position).toBe(position);
          const from = (offset: number) =>
            program.json<{ prompts: string[] }>(["extract-prompts", "--session-ref", path, "--offset", String(offset)]);
          prompts += (await from(0)).prompts.length;
          expect(await from(position + 1_000_000)).toEqual({ prompts: [] });
          const past = ["extract-modified-files", "--path", path, "--offset", String(position + 1_000_000)];
          expect(await program.json(past)).toEqual({ files: [], current_position: position });
          const summary = await program.json<{ has_summary: boolean }>(["extract-summary", "--session-ref", path]);
          summaries += summary.has_summary ? 1 : 0;
        }
        expect([prompts > 0, summaries > 0]).toEqual([true, true]);
      },
    );

    testIf(capabilities.transcript_preparer)("are waited for, not without end", async () => {
      await program.text(["prepare-transcript", "--session-ref", program.transcript("{}")]);
    });

    testIf(capabilities.token_calculator)("tokens are counted, from an offset on", async () => {
      let output = 0;
      for (const file of transcripts) {
        const bytes = readFileSync(join(fixtures, "transcripts", file));
        const used = await program.json(["calculate-tokens", "--offset", "0"], bytes);
        requireTokens(used);
        output += used["output_tokens"] as number;
        const past = await program.json(["calculate-tokens", "--offset", String(bytes.length)], bytes);
        expect(past).toMatchObject({ input_tokens: 0, output_tokens: 0 });
      }
      expect(output).toBeGreaterThan(0);
      requireTokens(await program.json(["calculate-tokens", "--offset", "0"], "{}"));
    });

    testIf(capabilities.subagent_aware_extractor)("subagents count with them", async () => {
      const directory = join(program.repository.home, "subagents");
      const flags = ["--offset", "0", "--subagents-dir", directory];
      expect(await program.json(["extract-all-modified-files", ...flags], "{}")).toMatchObject({ files: [] });
      requireTokens(await program.json(["calculate-total-tokens", ...flags], "{}"));
    });
  });
}

function hookInput({ repository }: Program, hook: string): Record<string, unknown> {
  return {
    hook_type: hook,
    session_id: SESSION,
    session_ref: join(repository.home, "transcript.jsonl"),
    timestamp: "2026-01-05T09:00:00Z",
    user_prompt: "Fix the login",
    prompt: "Fix the login",
    cwd: repository.path,
  };
}

function requireEvent(text: string): void {
  if (text.trim() === "" || text.trim() === "null") return;
  const event = JSON.parse(text);
  expect(event.type).toBeGreaterThanOrEqual(1);
  expect(event.type).toBeLessThanOrEqual(7);
  expect(event.session_id).toBeTruthy();
  if (event.timestamp !== undefined) expect(event.timestamp).toMatch(RFC_3339);
}

function requireTokens(used: Record<string, unknown>): void {
  for (const field of ["input_tokens", "output_tokens"]) expect(used[field]).toBeGreaterThanOrEqual(0);
  for (const field of ["cache_creation_tokens", "cache_read_tokens", "api_call_count"]) {
    expect((used[field] as number | undefined) ?? 0).toBeGreaterThanOrEqual(0);
  }
}

/** Nothing of the user's own home is ever touched. */
function isBelow(repository: { home: string; path: string }, place: string): boolean {
  return place.startsWith(repository.home) || place.startsWith(repository.path);
}

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
