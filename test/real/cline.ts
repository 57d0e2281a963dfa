/** The real Cline: which version, what it needs in order to run offline, and how stories drive it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, driven, streamedResult } from "./agent-driver.ts";
import { type Available, availability, type RealAgent, Rig } from "./rig.ts";
import { MODEL, reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";

const PATIENCE_MS = 60_000;
const POLL_MS = 200;

const cline: RealAgent = {
  package: {
    agent: "cline",
    // The main package only chooses among those of the platforms.
    name: "@cline/cli-linux-x64",
    version: "3.0.65",
    integrity: {
      "@cline/cli-linux-x64":
        "sha512-YRDt0eNj/XEMB7DeMeOeE92jQFf7DyKGCysStxrk+mIKdO0GVPugDG4yxsmKtBouBnaRVteW3NwYEnSq2kah8A==",
    },
    programs: ["node_modules/@cline/cli-linux-x64/bin/cline"],
  },
  command: "cline",
  environment: () => ({ CLINE_NO_AUTO_UPDATE: "1", CLINE_TELEMETRY_DISABLED: "1", COLORTERM: "truecolor" }),
  furnish() {},
};

async function clineAvailability(): Promise<Available> {
  if (process.arch === "x64") return availability(cline);
  const reason = `it is pinned for x64, and this is ${process.arch}`;
  process.stderr.write(`SKIPPED: stories with the real cline: ${reason}\n`);
  return { program: null, reason };
}

export const driver: AgentDriver = {
  ...driven("Cline", cline),
  available: clineAvailability,
  async start(program, scenarios) {
    const rig = await Rig.start(cline, program, scenarios);
    const directory = join(rig.home, ".cline/data/settings");
    mkdirSync(directory, { recursive: true });
    const settings = {
      provider: "openai-compatible",
      apiKey: "dummy",
      model: MODEL,
      baseUrl: `${rig.sandbox.url}/v1`,
    };
    const chosen = { settings, updatedAt: "2026-11-18T00:00:00.000Z", tokenSource: "manual" };
    const providers = { "openai-compatible": chosen };
    const content = { version: 1, lastUsedProvider: "openai-compatible", modes: {}, providers };
    writeFileSync(join(directory, "providers.json"), JSON.stringify(content));
    return rig;
  },
  tools: {
    write: (path, new_text) => toolUse("editor", { path, new_text }),
    edit: (path, old_text, new_text) => toolUse("editor", { path, old_text, new_text }),
    shell: (command) => toolUse("run_commands", { commands: [command] }),
    read: (path) => toolUse("read_files", { files: [{ path }] }),
  },
  turn: (rig, text, session) => (session ? typed(rig, `cline --id ${session}`, text) : ask(rig, text)),
  goOn: (rig, command, text, cwd) => typed(rig, cwd ? `cd ${cwd} && ${command}` : command, text),
  // It wraps what its user typed.
  heard: (rig) =>
    rig.received.lastOutline().map((line) => line.replace(/<user_input mode="[a-z]+">(.*)<\/user_input>/s, "$1")),
  usage: (calls) => reported(totalUsage(calls.filter((call) => call.tools.length > 0))),
  model: MODEL,
};

function answerIn(event: { type: string; text?: string }): string | null {
  return event.type === "run_result" ? (event.text ?? "") : null;
}

async function ask(rig: Rig, text: string): Promise<Answered> {
  const done = await rig.run(["cline", "--json", "--auto-approve", "true", text]);
  const { result } = streamedResult(done.stdout, answerIn);
  return { code: done.code, stderr: done.stderr, result, sessionId: newestSession(rig) };
}

/** A session goes on in a terminal alone: there it is opened, asked and left. */
async function typed(rig: Rig, command: string, text: string): Promise<Answered> {
  const sessionId = /--id (\S+)/.exec(command)?.[1] ?? "";
  const before = messagesOf(rig, sessionId).length;
  const terminal = await rig.terminal(["sh", "-c", command]);
  await terminal.waitFor("Ask anything...");
  terminal.press("-l", "--", text);
  await terminal.waitFor(`❯ ${text}`);
  terminal.press("Enter");
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const messages = messagesOf(rig, sessionId);
    const last = messages.at(-1);
    const isDone = messages.length > before + 1 && last?.role === "assistant" && last.content.every(isText);
    if (isDone) break;
    if (Date.now() > deadline) throw new Error(`it never answered:\n${terminal.screen()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const result =
    messagesOf(rig, sessionId)
      .at(-1)
      ?.content.map((part) => part.text ?? "")
      .join("") ?? "";
  await hookRan(rig);
  await terminal.pressWhile("C-c", () => !terminal.ended());
  terminal.close();
  return { code: 0, stderr: "", result, sessionId };
}

/** It saves its answer before it calls the hook of the turn's end. */
async function hookRan(rig: Rig): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const { stdout } = await rig.run(["backtrail", "log", "--limit", "1", "--json"]);
    if (stdout.includes('"kind":"turn-end"') || /"kind": "turn-end"/.test(stdout)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface SavedMessage {
  role: string;
  content: { type: string; text?: string }[];
}

function isText({ type }: { type: string }): boolean {
  return type === "text";
}

function messagesOf(rig: Rig, id: string): SavedMessage[] {
  try {
    const path = join(rig.home, ".cline/data/sessions", id, `${id}.messages.json`);
    return (JSON.parse(readFileSync(path, "utf8")) as { messages: SavedMessage[] }).messages;
  } catch {
    return [];
  }
}

/** It prints no session id: the newest of its sessions is the one. */
function newestSession(rig: Rig): string {
  const sessions = join(rig.home, ".cline/data/sessions");
  if (!existsSync(sessions)) return "";
  const updated = (id: string) =>
    statSync(join(sessions, id, `${id}.messages.json`), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return readdirSync(sessions).reduce((newest, id) => (updated(id) > updated(newest) ? id : newest), "");
}
