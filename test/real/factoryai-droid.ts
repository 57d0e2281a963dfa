/** The real Factory AI Droid: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, jsonResult } from "./agent-driver.ts";
import { type Available, availability, type RealAgent, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";

export const MODEL = "custom:scripted-model-0";

const droid: RealAgent = {
  package: {
    agent: "factoryai-droid",
    // The platform's own package: the one that would bring it needs an install script.
    name: "@factory/cli-linux-x64",
    version: "0.225.2",
    integrity: {
      "@factory/cli-linux-x64":
        "sha512-1ctPmJwAqs0s/QNiaFp6vxr90AQa7j3VgFzLns9OaTffzOCd4csExNpL4w99tNlBLmQbbYqp0rUHlAhoD8R31A==",
    },
    programs: ["node_modules/@factory/cli-linux-x64/bin/droid"],
  },
  command: "droid",
  environment: (url) => ({
    FACTORY_API_BASE_URL: url,
    FACTORY_DISABLE_KEYRING: "1",
    FACTORY_DROID_AUTO_UPDATE_ENABLED: "false",
  }),
  furnish(home) {
    mkdirSync(join(home, ".factory"), { recursive: true });
  },
};

/** Where the model is can be said nowhere but in the user's settings. */
function nameModel(rig: Rig): void {
  const model = {
    model: "scripted-model",
    id: MODEL,
    index: 0,
    displayName: "scripted-model",
    baseUrl: rig.sandbox.url,
    apiKey: "sk-dummy",
    provider: "anthropic",
    maxOutputTokens: 8192,
  };
  writeFileSync(join(rig.home, ".factory/settings.json"), JSON.stringify({ customModels: [model] }));
}

function whereDroidRuns(): Promise<Available> {
  if (process.arch === "x64") return availability(droid);
  return Promise.resolve({ program: null, reason: "its package is pinned for x64 alone" });
}

/** What a command says of itself. */
const HARMLESS = { riskLevelReason: "A test", riskLevel: "low" };

/** Files may be edited and commands run without a question. */
const UNATTENDED = ["--model", MODEL, "--auto", "high", "--output-format", "json"];

export const driver: AgentDriver = {
  ...driven("Droid", droid),
  available: whereDroidRuns,
  async start(program, scenarios) {
    const rig = await Rig.start(droid, program, scenarios);
    nameModel(rig);
    return rig;
  },
  tools: {
    write: (file_path, content) => toolUse("Create", { file_path, content }),
    edit: (file_path, old_str, new_str) => toolUse("Edit", { file_path, old_str, new_str }),
    shell: (command) => toolUse("Execute", { summary: "Change files", command, timeout: 60, ...HARMLESS }),
    read: (file_path) => toolUse("Read", { file_path }),
  },
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["--session-id", session] : [])),
  // What is copied from the screen opens a terminal; without one it is called `exec --session-id`.
  async goOn(rig, command, text, cwd) {
    const headless = command.replace("droid --resume", "droid exec --session-id");
    const done = await byShell(rig, headless, [...UNATTENDED, text], { cwd });
    return { code: done.code, stderr: done.stderr, ...jsonResult(done.stdout) };
  },
  model: MODEL,
};

/** One prompt without a terminal. */
export async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  const done = await rig.run(["droid", "exec", ...UNATTENDED, ...args, text]);
  return { code: done.code, stderr: done.stderr, ...jsonResult(done.stdout) };
}

/** Several turns of one process, as an editor drives it; the session's id. */
export async function converse(rig: Rig, ...steps: string[]): Promise<string> {
  const driver = join(import.meta.dir, "factoryai-droid.rpc.ts");
  const said = await rig.output([process.execPath, driver, MODEL, ...steps]);
  return (JSON.parse(said) as { session: string }).session;
}
