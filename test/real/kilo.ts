/** The real Kilo: which version, what it needs in order to run offline, and how stories drive it. */
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven } from "./agent-driver.ts";
import { configuration, furnishDirectory, readResult, relatives } from "./opencode.ts";
import { type Available, availability, type RealAgent, type Rig } from "./rig.ts";
import type { Terminal } from "./terminal.ts";

const VERSION = "7.7.7";
const PLUGINS = { "@kilocode/plugin": VERSION };

const kilo: RealAgent = {
  package: {
    agent: "kilo",
    // The main package only chooses among those of the platforms, and brings several of them.
    name: "@kilocode/cli-linux-x64",
    version: VERSION,
    integrity: {
      "@kilocode/cli-linux-x64":
        "sha512-QHb5D51imerjXjx/04lJz4APYtAsCI+Xehd8j5AniEJxwdmCkDML1xTkrCcIGpE6OFo7gI41LcwM03j93bqyjA==",
    },
    programs: ["node_modules/@kilocode/cli-linux-x64/bin/kilo"],
  },
  command: "kilo",
  environment: (url) => ({
    // Commands are approved without asking, as in OpenCode; in a terminal Kilo asks otherwise.
    // Runs that hung had logged a question where others log a snapshot. Without a terminal, nobody answers it.
    KILO_CONFIG_CONTENT: JSON.stringify({
      ...configuration(url),
      snapshot: false,
      permission: { bash: "allow", edit: "allow" },
    }),
    KILO_DISABLE_MODELS_FETCH: "1",
    KILO_DISABLE_AUTOUPDATE: "1",
    KILO_DISABLE_LSP_DOWNLOAD: "1",
    KILO_DISABLE_SESSION_INGEST: "1",
    KILO_DISABLE_DEFAULT_PLUGINS: "1",
    KILO_TELEMETRY_LEVEL: "off",
  }),
  furnish(home, project) {
    furnishDirectory(join(home, ".config/kilo"), PLUGINS);
    furnishDirectory(join(project, ".kilo"), PLUGINS);
  },
};

/** Only one platform's package is pinned. */
async function kiloAvailability(): Promise<Available> {
  if (process.arch === "x64") return availability(kilo);
  const reason = `it is pinned for x64, and this is ${process.arch}`;
  process.stderr.write(`SKIPPED: stories with the real kilo: ${reason}\n`);
  return { program: null, reason };
}

export const driver: AgentDriver = {
  ...relatives,
  ...driven("Kilo", kilo),
  available: kiloAvailability,
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["-s", session] : [])),
  async goOn(rig, command, text, cwd) {
    // Without a network it would wait for a package in each directory that it sees for the first time.
    const place = /^cd (\S+) &&/.exec(command)?.[1];
    if (place) await rig.output(["cp", "-rn", `${rig.project}/.kilo/.`, `${place}/.kilo/`]);
    const headless = command.replace("kilo -s", "kilo run --auto --format json -s");
    const done = await byShell(rig, headless, [], { cwd, input: text });
    return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
  },
};

/** One prompt without a terminal. */
async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  const done = await rig.run(["kilo", "run", "--auto", "--format", "json", ...args], { input: text });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

/** The agent in a terminal by a command that a person would type or copy, ready for a prompt. */
export async function openByShell(rig: Rig, command = "kilo"): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", command]);
  // It starts slowly where many processes run.
  await terminal.waitFor(/Ask anything|ctrl\+p/, 120_000);
  return terminal;
}

export async function leaveKilo(terminal: Terminal): Promise<void> {
  await terminal.submit("/exit");
  await terminal.waitForExit();
  terminal.close();
}
