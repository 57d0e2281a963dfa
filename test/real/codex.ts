/** The real Codex: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, type Tools } from "./agent-driver.ts";
import type { RealAgent, Rig } from "./rig.ts";
import { answering, reply, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const VERSION = "0.166.0";
const TARGET = process.arch === "arm64" ? "aarch64-unknown-linux-musl" : "x86_64-unknown-linux-musl";

export const codex: RealAgent = {
  package: {
    agent: "codex",
    name: "@openai/codex",
    version: VERSION,
    integrity: {
      "@openai/codex":
        "sha512-2Szlp1l1cz5TX1ccpX4Zok3DZrot9xeZe0km+6/1v8JmqxADwyJxKBJah4dBymkwtS25j/u6dipJusTOI97Z8Q==",
      "@openai/codex-linux-x64":
        "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
      "@openai/codex-linux-arm64":
        "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
    },
    programs: [`node_modules/@openai/codex-linux-${process.arch}/vendor/${TARGET}/bin/codex`],
  },
  command: "codex",
  environment: (url) => ({ MODEL_URL: url, MODEL_KEY: "dummy" }),
  furnish(home, project) {
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(join(home, ".codex/config.toml"), configuration(project));
  },
};

/** Every model but the smaller one writes scripts that call its tools, and may start subagents. */
export const SCRIPTING_MODEL = "gpt-6-sol";
export const PLAIN_MODEL = "gpt-5.5";

function configuration(project: string): string {
  return `model = "${SCRIPTING_MODEL}"
model_provider = "local"
check_for_update_on_startup = false
# A test types faster than a person; that is no paste.
disable_paste_burst = true

[model_providers.local]
name = "local"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[features]
# Without a network their list is waited for at every start.
plugins = false

[notice.model_migrations]
"${PLAIN_MODEL}" = "${SCRIPTING_MODEL}"

[projects."${project}"]
trust_level = "trusted"
`;
}

/** Where the model is, and that nothing is asked. */
function common(rig: Rig): string[] {
  const url = `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`;
  return ["-c", url, "--dangerously-bypass-approvals-and-sandbox"];
}

/** The older way in which Codex tells of a turn's end: of every thread, its own among them. */
export const NOTIFY = ["-c", 'notify=["backtrail", "hooks", "codex", "notify"]'];

/** In a terminal Codex asks for a title, in a thread of its own. */
export const TITLES = answering(/^Generate a concise, single-line task title/, reply("A title"));

/** Hooks that nobody has reviewed are passed over without a word. */
export const UNREVIEWED = "--dangerously-bypass-hook-trust";

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const added = (path: string, content: string) =>
  patch(
    `*** Add File: ${path}`,
    ...content
      .trimEnd()
      .split("\n")
      .map((line) => `+${line}`),
  );
const changed = (path: string, before: string, after: string) =>
  patch(`*** Update File: ${path}`, "@@", `-${before}`, `+${after}`);
/** The model writes scripts, which call its tools. */
const script = (tool: string, given: unknown) =>
  toolUse("exec", { input: `text(await tools.${tool}(${JSON.stringify(given)}));` });

/** As the smaller model has them. */
export const PLAIN_TOOLS: Tools = {
  write: (path, content) => toolUse("apply_patch", { input: added(path, content) }),
  edit: (path, before, after) => toolUse("apply_patch", { input: changed(path, before, after) }),
  shell: (cmd) => toolUse("exec_command", { cmd }),
};

export const driver: AgentDriver = {
  ...driven("Codex", codex),
  tools: {
    write: (path, content) => script("apply_patch", added(path, content)),
    edit: (path, before, after) => script("apply_patch", changed(path, before, after)),
    shell: (cmd) => script("exec_command", { cmd }),
    together: (...uses) => {
      const inputs = uses.flatMap((use) => (use.type === "tool-use" ? [use.input["input"]] : []));
      return [toolUse("exec", { input: inputs.join("\n") })];
    },
  },
  turn: (rig, text, session) => (session ? resume(rig, session, text, UNREVIEWED) : prompt(rig, text, UNREVIEWED)),
  // What is copied from the screen opens a terminal; without one it is called `exec resume`.
  async goOn(rig, command, text, cwd) {
    const args = [text, UNREVIEWED, "--json", ...common(rig)];
    const done = await byShell(rig, command.replace("codex resume", "codex exec resume"), args, { cwd, input: "" });
    return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
  },
  namesSession: true,
};

/** One prompt without a terminal. */
export async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  const done = await rig.run(["codex", "exec", ...args, "--json", ...common(rig), text], { input: "" });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

/** One prompt to a thread that there is. */
export async function resume(rig: Rig, session: string, text: string, ...args: string[]): Promise<Answered> {
  const command = ["codex", "exec", "resume", session, text, ...args, "--json", ...common(rig)];
  const done = await rig.run(command, { input: "" });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

/** The agent in a terminal, without the background process that would outlive it. */
export async function openCodex(rig: Rig, ...args: string[]): Promise<Terminal> {
  return rig.terminal(["codex", ...args, ...inTerminal(rig)]);
}

/** The agent in a terminal by a command that a person would copy from the screen. */
export async function openByShell(rig: Rig, command: string, ...args: string[]): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", `${command} "$@"`, "sh", ...args, ...inTerminal(rig)]);
  await whenReady(terminal);
  return terminal;
}

function inTerminal(rig: Rig): string[] {
  return ["--no-daemon", "--no-alt-screen", ...common(rig)];
}

/** Answers the question that Codex asks about new hooks. It passes over keys that come right after the question. */
export async function trustHooks(terminal: Terminal): Promise<void> {
  await terminal.waitFor("Hooks need review");
  while (!terminal.screen().includes("› 2. Trust all and continue")) {
    terminal.press("Down");
    await terminal.waitFor(/› 2\. Trust all/, 2_000).catch(() => undefined);
  }
  terminal.press("Enter");
  await whenReady(terminal);
}

export async function whenReady(terminal: Terminal): Promise<void> {
  await terminal.waitFor("Ask Codex to do anything");
}

export async function leaveCodex(terminal: Terminal): Promise<void> {
  await terminal.submit("/quit");
  await terminal.waitForExit();
  terminal.close();
}

function readResult(stdout: string): { result: string; sessionId: string } {
  const read = { result: "", sessionId: "" };
  for (const line of stdout.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as { type: string; thread_id?: string; item?: { type: string; text?: string } };
    if (event.type === "thread.started") read.sessionId = event.thread_id ?? "";
    if (event.type === "item.completed" && event.item?.type === "agent_message") read.result = event.item.text ?? "";
  }
  return read;
}
