/**
 * Implements `agents new <id>`: writes a starting profile for hooks and transcripts in the common format, and example
 * payloads and an example transcript for `agents check` to replay. Prints nothing.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { writeFileAtomic } from "../../base/fs/files.ts";
import { isAgentId, type LinesSection, type Profile } from "../contract/profile.ts";
import { PACKAGED } from "../registry/packaged.ts";
import { userAgentsDirectory } from "../registry/registry.ts";

const EXAMPLE_SESSION = "00000000-0000-4000-8000-000000000000";

export interface Scaffold {
  profile: string;
  /** The directory for recorded payloads, one file each. */
  payloads: string;
  /** The directory for recorded transcripts. */
  transcripts: string;
  files: string[];
}

/** Where the profile goes. Refuses ids that can't be one, and those that are taken. */
export function claimProfilePath(id: string, mayReplace = false): { file: string; directory: string } {
  if (!isAgentId(id) || id === "git" || id === "record") {
    throw new UserError("usage", `"${id}" can't be an agent's id.`, "Use small letters, digits and hyphens: my-agent");
  }
  if (Object.hasOwn(PACKAGED, id)) {
    throw new UserError("refused", `${id} is built in.`, "Choose another id; see: backtrail agents list");
  }
  const directory = userAgentsDirectory();
  const file = join(directory, `${id}.json`);
  if (existsSync(file) && !mayReplace) {
    throw new UserError("refused", `There is already a profile: ${file}`, `Try it with: backtrail agents check ${id}`);
  }
  return { file, directory };
}

export function scaffoldAgent(id: string): Scaffold {
  const { file: profile, directory } = claimProfilePath(id);
  const payloads = join(directory, id, "payloads");
  const examples = Object.entries(examplePayloads(id));
  const transcripts = join(directory, id, "transcripts");
  const transcript = join(transcripts, `${EXAMPLE_SESSION}.example.jsonl`);
  const files = [profile, ...examples.map(([name]) => join(payloads, `${name}.example.json`)), transcript];
  const taken = files.find((file) => existsSync(file));
  if (taken !== undefined) throw new UserError("refused", `${taken} already exists.`, "Move it away first.");
  for (const [name, payload] of examples) writePretty(join(payloads, `${name}.example.json`), payload);
  writeFileAtomic(
    transcript,
    exampleTranscript()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  writePretty(profile, commonProfile(id));
  return { profile, payloads, transcripts, files };
}

function writePretty(path: string, value: unknown): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** What the profile of a new agent says about its name. */
export function identity(id: string) {
  return { v: 2 as const, id, display_name: id, preview: true, executable: id };
}

/** A profile with the names that most agents use. */
function commonProfile(id: string): Profile {
  return {
    ...identity(id),
    detection: {
      min_score: 50,
      score_rules: [
        {
          score: 60,
          path_matches: { path: "$.transcript_path", regex: `[/\\\\]\\.${id}[/\\\\]` },
        },
        { score: 10, dir_exists: `.${id}` },
      ],
    },
    hooks: {
      settings: { project: { path: `.${id}/settings.json`, format: "claude-settings" } },
      install: {
        SessionStart: { verb: "session-start" },
        UserPromptSubmit: { verb: "user-prompt-submit" },
        Stop: { verb: "stop" },
        SessionEnd: { verb: "session-end" },
      },
      fields: {
        event: ["$.hook_event_name"],
        session_id: ["$.session_id"],
        cwd: ["$.cwd"],
        transcript_path: ["$.transcript_path"],
        prompt: ["$.prompt"],
        model: ["$.model"],
        tool_name: ["$.tool_name"],
        tool_input: ["$.tool_input"],
        tool_command: ["$.tool_input.command"],
        tool_paths: ["$.tool_input.file_path"],
      },
      events: {
        SessionStart: "SessionStart",
        UserPromptSubmit: "TurnStart",
        Stop: "TurnEnd",
        SessionEnd: "SessionEnd",
        PreToolUse: "ToolStart",
        PostToolUse: "ToolEnd",
      },
      tools: { Write: "write", Edit: "write", Bash: "shell", Read: "read" },
    },
    transcript: {
      format: "jsonl",
      directory: `.${id}/sessions`,
      recognised_by: [["$.session_id", "$.role"]],
      lines: commonLines(),
      fork: true,
    },
    protected_dirs: [`.${id}`],
    resume: [id, "--resume", "{session}"],
    tested_versions: [],
  };
}

/** One message per line: plain text, or a list of blocks. */
function commonLines(): LinesSection {
  return {
    type: ["$.role"],
    types: {
      user: "prompt",
      assistant: "answer",
      tool: "tool-result",
      tool_use: "tool-use",
      tool_result: "tool-result",
      thinking: "thinking",
      summary: "compaction",
    },
    text: ["$.content"],
    tool_use_id: ["$.tool_use_id"],
    blocks: {
      at: ["$.content"],
      type: ["$.type"],
      text: ["$.text", "$.content"],
      tool_name: ["$.name"],
      tool_use_id: ["$.id", "$.tool_use_id"],
      tool_input: ["$.input"],
      file_paths: ["$.input.file_path"],
    },
    id: ["$.id"],
    session_id: ["$.session_id"],
    time: ["$.timestamp"],
    model: ["$.model"],
    tokens: { input: ["$.usage.input_tokens"], output: ["$.usage.output_tokens"] },
  };
}

function exampleTranscript(): Record<string, unknown>[] {
  const common = { session_id: EXAMPLE_SESSION, timestamp: "2026-01-05T09:00:00Z" };
  const answer = { ...common, role: "assistant", model: "example-1" };
  const use = { type: "tool_use", id: "use-1", name: "Write", input: { file_path: "/home/dev/project/a.test.js" } };
  return [
    { ...common, id: "1", role: "user", content: "Add a test" },
    { ...answer, id: "2", content: [{ type: "text", text: "I'll write one." }, use], usage: usage(120, 30) },
    { ...common, id: "3", role: "tool", tool_use_id: "use-1", content: "written" },
    { ...answer, id: "4", content: [{ type: "text", text: "Done." }], usage: usage(160, 10) },
    { ...common, id: "5", role: "user", content: "Thank you" },
    { ...answer, id: "6", content: [{ type: "text", text: "You're welcome." }], usage: usage(180, 8) },
  ];
}

function usage(input: number, output: number) {
  return { input_tokens: input, output_tokens: output };
}

function examplePayloads(id: string): Record<string, unknown> {
  const common = {
    session_id: EXAMPLE_SESSION,
    transcript_path: `/home/dev/.${id}/sessions/${EXAMPLE_SESSION}.jsonl`,
    cwd: "/home/dev/project",
  };
  return {
    "session-start": { ...common, hook_event_name: "SessionStart" },
    "user-prompt-submit": { ...common, hook_event_name: "UserPromptSubmit", prompt: "Add a test" },
    stop: { ...common, hook_event_name: "Stop" },
    "session-end": { ...common, hook_event_name: "SessionEnd" },
  };
}
