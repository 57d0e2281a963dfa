#!/usr/bin/env node
/**
 * An external agent, as small as it can be: "Parrot" repeats what it is told. Its transcript is JSONL:
 * {"who":"user"|"parrot","text":…,"files":[…],"tokens":[in,out]}. Its hooks are lines of a file, which
 * lies in .git so that nobody commits it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

const HOOKS = ["wake", "hear", "spoken", "sleep"];
const EVENTS = { wake: 1, hear: 2, spoken: 3, sleep: 5 };
const root = process.env.ENTIRE_REPO_ROOT ?? process.cwd();
const hooksFile = existsSync(join(root, ".git")) ? join(root, ".git", "parrot-hooks") : join(root, ".parrot", "hooks");

const [subcommand, ...rest] = process.argv.slice(2);
const flags = {};
for (let i = 0; i < rest.length; i++) {
  const name = rest[i].slice(2);
  flags[name] = name === "force" || name === "local-dev" ? true : rest[++i];
}

const subcommands = {
  info: () => ({
    protocol_version: 1,
    name: "parrot",
    type: "Parrot",
    description: "Says what it hears",
    is_preview: true,
    protected_dirs: [".parrot"],
    hook_names: HOOKS,
    capabilities: {
      hooks: true,
      transcript_analyzer: true,
      transcript_preparer: true,
      token_calculator: true,
      text_generator: false,
      hook_response_writer: true,
      subagent_aware_extractor: false,
    },
  }),
  detect: () => ({ present: existsSync(join(root, ".parrot")) }),
  "get-session-id": () => ({ session_id: json().session_id ?? "" }),
  "get-session-dir": () => ({ session_dir: join(homedir(), ".parrot", basename(needed(flags["repo-path"]))) }),
  "resolve-session-file": () => ({
    session_file: join(needed(flags["session-dir"]), `${needed(flags["session-id"])}.jsonl`),
  }),
  "read-session": () => {
    const { session_id, session_ref } = json();
    const bytes = readFileSync(session_ref);
    return {
      session_id,
      agent_name: "parrot",
      repo_path: root,
      session_ref,
      start_time: "2026-01-05T09:00:00Z",
      native_data: bytes.toString("base64"),
      modified_files: lines(bytes).flatMap((line) => line.files ?? []),
      new_files: [],
      deleted_files: [],
    };
  },
  "write-session": () => {
    const { session_ref, native_data } = json();
    mkdirSync(dirname(session_ref), { recursive: true });
    writeFileSync(session_ref, Buffer.from(native_data ?? "", "base64"));
  },
  "read-transcript": () => readFileSync(needed(flags["session-ref"])),
  "chunk-transcript": () => {
    const size = Number(flags["max-size"]);
    if (!(size > 0)) throw new Error("--max-size must be more than 0");
    const bytes = input();
    const chunks = [];
    for (let at = 0; at === 0 || at < bytes.length; at += size) chunks.push(bytes.toString("base64", at, at + size));
    return { chunks };
  },
  "reassemble-transcript": () => Buffer.concat(json().chunks.map((chunk) => Buffer.from(chunk, "base64"))),
  "format-resume-command": () => ({ command: `parrot --again ${needed(flags["session-id"])}` }),
  "parse-hook": () => {
    const text = input().toString("utf8").trim();
    const type = EVENTS[flags.hook];
    if (text === "" || !type) return null;
    const { session_id, prompt, transcript } = JSON.parse(text);
    if (!session_id) return null;
    const { moods = "" } = JSON.parse(process.env.BACKTRAIL_SESSION_METADATA ?? "{}");
    return {
      ...(prompt === "How are you?" ? { response_message: `I was: ${moods || "new"}` } : {}),
      metadata: { moods: `${moods}+` },
      type,
      session_id,
      session_ref: transcript,
      prompt,
      model: "parrot-1",
      timestamp: new Date().toISOString(),
    };
  },
  "install-hooks": () => {
    if (existsSync(hooksFile) && !flags.force) return { hooks_installed: 0 };
    mkdirSync(dirname(hooksFile), { recursive: true });
    const command = process.env.BACKTRAIL_HOOK_COMMAND ?? "entire hooks parrot";
    writeFileSync(hooksFile, HOOKS.map((hook) => `${hook}\t${command} ${hook}\n`).join(""));
    return { hooks_installed: HOOKS.length };
  },
  "uninstall-hooks": () => rmSync(hooksFile, { force: true }),
  "are-hooks-installed": () => ({ installed: existsSync(hooksFile) }),
  "get-transcript-position": () => ({ position: read(needed(flags.path)).length }),
  "extract-modified-files": () => {
    const bytes = read(needed(flags.path));
    return { files: since(bytes).flatMap((line) => line.files ?? []), current_position: bytes.length };
  },
  "extract-prompts": () => ({
    prompts: since(read(needed(flags["session-ref"])))
      .filter((line) => line.who === "user")
      .map((line) => line.text),
  }),
  "extract-summary": () => {
    const said = lines(read(needed(flags["session-ref"]))).filter((line) => line.who === "parrot");
    return { summary: said.at(-1)?.text ?? "", has_summary: said.length > 0 };
  },
  "prepare-transcript": () => undefined,
  "calculate-tokens": () => {
    const used = since(input()).flatMap((line) => (line.tokens ? [line.tokens] : []));
    const sum = (at) => used.reduce((total, tokens) => total + tokens[at], 0);
    return { input_tokens: sum(0), output_tokens: sum(1) };
  },
  "write-hook-response": () => Buffer.from(`squawk: ${needed(flags.message)}\n`),
};

try {
  if (!Object.hasOwn(subcommands, subcommand ?? "")) throw new Error(`unknown subcommand: ${subcommand}`);
  const answer = subcommands[subcommand]();
  if (answer !== undefined) process.stdout.write(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
} catch (error) {
  process.stderr.write(`parrot: ${error.message}\n`);
  process.exitCode = 1;
}

function input() {
  return readFileSync(0);
}

function json() {
  return JSON.parse(input().toString("utf8"));
}

function needed(value) {
  if (typeof value !== "string" || value === "") throw new Error("a flag or a field is missing");
  return value;
}

function read(path) {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

function since(bytes) {
  return lines(bytes.subarray(Number(flags.offset ?? 0)));
}

function lines(bytes) {
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    })
    .filter((line) => line?.who);
}
