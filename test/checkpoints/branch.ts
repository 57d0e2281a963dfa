/**
 * Checkpoints as another tool writes them, put together by hand with git's own plumbing and without a line of
 * Backtrail's: what is read here was not written by what reads it.
 */
import { execFileSync } from "node:child_process";
import type { TemporaryRepository } from "../support/index.ts";

export type Content = string | Uint8Array | { link: string };

/** A commit on a ref with exactly these files; gives its id. */
export function commitFiles(
  repository: TemporaryRepository,
  ref: string,
  files: Readonly<Record<string, Content>>,
  message = "Checkpoint",
): string {
  const index = repository.at(".git", `index.${ref.replace(/[^a-z0-9]/gi, "-")}`);
  const git = (args: string[], input?: string | Uint8Array) =>
    execFileSync("git", args, {
      cwd: repository.path,
      env: repository.environment({ GIT_INDEX_FILE: index }),
      input: input ?? "",
      stdio: ["pipe", "pipe", "pipe"],
    })
      .toString()
      .trim();
  const entries = Object.entries(files).map(([path, content]) => {
    const link = typeof content === "object" && "link" in content;
    const id = git(["hash-object", "-w", "--stdin"], link ? content.link : content);
    return `${link ? "120000" : "100644"} ${id}\t${path}`;
  });
  git(["update-index", "--add", "--index-info"], `${entries.join("\n")}\n`);
  const commit = git(["commit-tree", git(["write-tree"]), "-m", message]);
  git(["update-ref", ref, commit]);
  return commit;
}

export const BRANCH = "refs/heads/entire/checkpoints/v1";
export const ID = "a3b2c4d5e6f7";

export const TRANSCRIPT = [
  {
    type: "user",
    uuid: "11111111-1111-4111-8111-111111111111",
    parentUuid: null,
    sessionId: "5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11",
    timestamp: "2026-02-10T09:00:00.000Z",
    cwd: "/home/ada/greeter",
    isSidechain: false,
    message: { role: "user", content: "Greet the user by name" },
  },
  {
    type: "assistant",
    uuid: "22222222-2222-4222-8222-222222222222",
    parentUuid: "11111111-1111-4111-8111-111111111111",
    sessionId: "5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11",
    timestamp: "2026-02-10T09:00:05.000Z",
    isSidechain: false,
    message: {
      id: "msg_1",
      role: "assistant",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: "The greeting now takes a name." }],
      usage: { input_tokens: 10, output_tokens: 20, cache_creation_input_tokens: 30, cache_read_input_tokens: 40 },
    },
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

/** Commits `exampleCheckpoint` to the checkpoint branch, with empty hashes. */
export function commitExampleCheckpoint(repository: Parameters<typeof commitFiles>[0]): void {
  const files = exampleCheckpoint(() => "");
  commitFiles(repository, BRANCH, files);
}

/** One checkpoint with two sessions and a task, field by field as the format has them. */
export function exampleCheckpoint(hash: (text: string) => string): Record<string, string> {
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const paths = (index: number) => ({
    metadata: `/a3/b2c4d5e6f7/${index}/metadata.json`,
    transcript: `/a3/b2c4d5e6f7/${index}/full.jsonl`,
    context: `/a3/b2c4d5e6f7/${index}/context.md`,
    content_hash: `/a3/b2c4d5e6f7/${index}/content_hash.txt`,
    prompt: `/a3/b2c4d5e6f7/${index}/prompt.txt`,
  });
  const usage = {
    input_tokens: 10,
    cache_creation_tokens: 30,
    cache_read_tokens: 40,
    output_tokens: 20,
    api_call_count: 1,
    subagent_tokens: {
      input_tokens: 1,
      cache_creation_tokens: 2,
      cache_read_tokens: 3,
      output_tokens: 4,
      api_call_count: 1,
    },
  };
  const lineEnd = TRANSCRIPT.indexOf("\n") + 1;
  return {
    "a3/b2c4d5e6f7/metadata.json": json({
      cli_version: "0.4.5",
      checkpoint_id: ID,
      strategy: "manual-commit",
      branch: "main",
      checkpoints_count: 3,
      files_touched: ["greet.ts", "README.md"],
      sessions: [paths(0), paths(1)],
      token_usage: usage,
    }),
    "a3/b2c4d5e6f7/0/metadata.json": json({
      cli_version: "0.4.5",
      checkpoint_id: ID,
      session_id: "5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11",
      strategy: "manual-commit",
      created_at: "2026-02-10T09:01:00.123456789+01:00",
      branch: "main",
      checkpoints_count: 2,
      files_touched: ["greet.ts"],
      agent: "Claude Code",
      turn_id: "0b9e6f8f4f5d",
      transcript_identifier_at_start: "",
      checkpoint_transcript_start: 0,
      transcript_lines_at_start: 0,
      token_usage: usage,
      summary: {
        intent: "Greet people by their names",
        outcome: "greet() takes a name",
        learnings: {
          repo: ["No build step"],
          code: [{ path: "greet.ts", line: 1, end_line: 2, finding: "Default name is World" }],
          workflow: ["Run the tests first"],
        },
        friction: ["None"],
        open_items: ["Translate it"],
      },
      initial_attribution: {
        calculated_at: "2026-02-10T08:01:00Z",
        agent_lines: 3,
        human_added: 1,
        human_modified: 0,
        human_removed: 0,
        total_committed: 4,
        agent_percentage: 75,
      },
      transcript_path: ".claude/projects/-home-ada-greeter/5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11.jsonl",
    }),
    "a3/b2c4d5e6f7/0/full.jsonl": TRANSCRIPT.slice(0, lineEnd),
    "a3/b2c4d5e6f7/0/full.jsonl.001": TRANSCRIPT.slice(lineEnd),
    "a3/b2c4d5e6f7/0/prompt.txt": "Greet the user by name\n\n---\n\nAnd say goodbye\nin two lines",
    "a3/b2c4d5e6f7/0/context.md": "# Session Context\n",
    "a3/b2c4d5e6f7/0/content_hash.txt": hash(TRANSCRIPT),
    "a3/b2c4d5e6f7/1/metadata.json": json({
      cli_version: "0.4.5",
      checkpoint_id: ID,
      session_id: "cursor-session",
      strategy: "manual-commit",
      created_at: "2026-02-10T08:02:00Z",
      checkpoints_count: 1,
      files_touched: ["README.md"],
      agent: "Cursor",
    }),
    "a3/b2c4d5e6f7/1/prompt.txt": "Describe it",
    "a3/b2c4d5e6f7/tasks/toolu_01/checkpoint.json": json({
      session_id: "5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11",
      tool_use_id: "toolu_01",
      checkpoint_uuid: "22222222-2222-4222-8222-222222222222",
      agent_id: "a1",
    }),
    "a3/b2c4d5e6f7/tasks/toolu_01/agent-a1.jsonl": "{}\n",
    "a3/b2c4d5e6f7/tasks/toolu_01/checkpoints/001-toolu_01.json": "{}",
  };
}
