/** The library as a program gets it: packed, installed into an empty project, and used from Node 22 and from Bun. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packMain } from "../../npm/assemble.ts";
import { mainManifest, platformManifest } from "../../npm/manifests.ts";
import { PLATFORMS } from "../../npm/platforms.ts";
import { version } from "../../scripts/compile.ts";
import {
  cleanEnvironment,
  executable,
  runProgram,
  ScriptedClaude,
  TemporaryDirectory,
  write,
} from "../support/index.ts";
import { temporaryRepository } from "../support/repository.ts";
import { availableNode22 } from "./node.ts";
import { Registry } from "./registry.ts";

const modules = join(import.meta.dirname, "..", "..", "node_modules");
const node = await availableNode22();
const place = new TemporaryDirectory();

beforeAll(async () => {
  await using registry = await new Registry([
    { manifest: mainManifest(version()), archive: await packMain(place.path, version()) },
    ...PLATFORMS.map((platform) => ({ manifest: platformManifest(platform, version()) })),
  ]).start();
  place.write("project/package.json", JSON.stringify({ private: true, type: "module" }));
  // Whoever wants the library alone needs neither the executables nor install scripts.
  const args = ["install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "backtrail"];
  const env = cleanEnvironment(place.at("home"), { npm_config_registry: registry.address });
  const installed = await runProgram("npm", args, { cwd: place.at("project"), env, timeout: 60_000 });
  if (installed.code !== 0) throw new Error(installed.stderr);
}, 120_000);

afterAll(() => place.remove());

test("it depends on no other package", () => {
  const names = readdirSync(place.at("project/node_modules")).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["backtrail"]);
});

const PROGRAM = `
import * as backtrail from "backtrail";
import { readFileSync, writeFileSync } from "node:fs";

const workspace = await backtrail.openWorkspace(process.argv[2]);
const read = () => readFileSync(workspace.root + "/story.txt", "utf8").trim();
const seen = { version: backtrail.version, before: read() };

seen.turns = backtrail.listTurns(workspace).map(({ number, prompt, status, files }) => [number, prompt, status, files]);
seen.newest = backtrail.listTurns(workspace, { limit: 1 }).length;
seen.kinds = backtrail.listSteps(workspace, { limit: 2 }).map(({ kind }) => kind);
seen.turn = (await backtrail.getTurn(workspace, "last")).prompt;
seen.sessions = (await backtrail.listSessions(workspace)).map(({ agent, turns }) => [agent, turns]);
seen.agents = (await backtrail.listAgents()).map(({ profile }) => profile.id);
seen.patch = (await backtrail.diff(workspace, "1")).patch.split("\\n").filter((line) => /^[+-]\\w/.test(line));

const plan = await backtrail.planRewind(workspace, "1");
seen.plan = [plan.write, plan.delete, plan.chat.kind];
const receipt = await backtrail.applyRestore(workspace, plan);
seen.receipt = [receipt.written, receipt.deleted, receipt.chat?.agent];
seen.rewound = read();
seen.statuses = backtrail.listTurns(workspace).map(({ status }) => status);

seen.redone = (await backtrail.applyRestore(workspace, await backtrail.planRedo(workspace))).written;
seen.after = read();

const undo = await backtrail.planUndo(workspace, ["2"]);
seen.undo = undo.conflicts.map(({ path }) => path);
seen.refused = await backtrail.applyRestore(workspace, undo).catch((error) => error.kind);
seen.foreign = await backtrail.applyRestore(workspace, { ...plan }).catch((error) => error.kind);
const late = await backtrail.planUndo(workspace, ["1"]);
writeFileSync(workspace.root + "/story.txt", "three\\n");
seen.outdated = await backtrail.applyRestore(workspace, late, { ifUnchanged: true }).catch((error) => error.name);
writeFileSync(workspace.root + "/story.txt", "two\\n");
seen.missing = await backtrail.openWorkspace("/").catch((error) => [error instanceof backtrail.UserError, error.kind]);

const fork = await backtrail.fork(workspace, "1", { branch: "other", executable: process.argv[3] });
seen.fork = [fork.branch, readFileSync(fork.directory + "/story.txt", "utf8").trim()];

const step = await backtrail.save(workspace, "by a program");
seen.saved = [step.kind, step.name];
console.log(JSON.stringify(seen));
`;

for (const [name, program] of [
  ["Node 22", node],
  ["Bun", process.execPath],
] as const) {
  test.skipIf(program === null)(`${name}: lists turns, rewinds, takes the rewind back`, async () => {
    using repository = temporaryRepository();
    repository.write("story.txt", "zero\n");
    repository.commit("second");
    await repository.run(["enable", "--agent", "claude-code"]);
    const agent = new ScriptedClaude(repository);
    await agent.start();
    await agent.turn("Begin the story", [write("story.txt", "one\n"), write("notes.md", "x\n")]);
    await agent.turn("Continue the story", [write("story.txt", "two\n")]);

    place.write("project/program.js", PROGRAM);
    const args = [place.at("project/program.js"), repository.path, executable()];
    const env = cleanEnvironment(repository.home);
    const result = await runProgram(program ?? "", args, { cwd: place.path, env, timeout: 60_000 });
    expect([result.stderr, result.code]).toEqual(["", 0]);
    expect(JSON.parse(result.stdout)).toEqual({
      version: version(),
      before: "two",
      turns: [
        [2, "Continue the story", "kept", { added: [], modified: ["story.txt"], deleted: [] }],
        [1, "Begin the story", "kept", { added: ["notes.md"], modified: ["story.txt"], deleted: [] }],
      ],
      newest: 1,
      kinds: ["turn-end", "turn-start"],
      turn: "Continue the story",
      sessions: [["claude-code", 2]],
      agents: expect.arrayContaining(["claude-code", "codex"]),
      patch: ["-one", "+two"],
      plan: [["story.txt"], [], "fork"],
      receipt: [1, 0, "claude-code"],
      rewound: "one",
      statuses: ["rewound", "kept"],
      redone: 1,
      after: "two",
      undo: ["story.txt"],
      refused: "refused",
      foreign: "usage",
      outdated: "PlanOutdated",
      missing: [true, "not-found"],
      fork: ["other", "one"],
      saved: ["manual", "by a program"],
    });
    // The command line goes on where the program stopped.
    const { steps } = await repository.json<{ steps: { name: string | null }[] }>(["log", "--limit", "1"]);
    expect(steps[0]?.name).toBe("by a program");
  });
}

const TYPED = `
import {
  type Agent, applyRestore, type Event, type HookEnvelope, listTurns, openWorkspace, planRewind, type Profile,
  type Receipt, type RestorePlan, type Step, type Turn, UserError,
} from "backtrail";

const workspace = await openWorkspace(".");
const turns: Turn[] = listTurns(workspace, { limit: 3 });
const steps: Step[] = turns.flatMap((turn) => turn.steps);
const plan: RestorePlan = await planRewind(workspace, steps[0]?.id ?? "last", { codeOnly: true });
const receipt: Receipt = await applyRestore(workspace, plan);
export const kind: Step["kind"] = steps[0]?.kind ?? "manual";
export const command: string | undefined = receipt.chat?.command;
export type Parts = [Agent["toEvent"], Profile["run"], HookEnvelope["raw"], Event["type"]];
export const problem = (error: unknown): string | undefined =>
  error instanceof UserError ? error.problem?.kind : undefined;
export const format: NonNullable<Profile["transcript"]>["format"] = "jsonl";
// @ts-expect-error: a profile has only the keys of the schema.
export type NoSuchPart = Profile["no_such_key"];
// @ts-expect-error: a number is no target.
await planRewind(workspace, 1);
`;

for (const [module, moduleResolution] of [
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
] as const) {
  test(`its types hold with moduleResolution ${moduleResolution}`, async () => {
    cpSync(join(modules, "@types", "node"), place.at("project/node_modules/@types/node"), { recursive: true });
    cpSync(join(modules, "undici-types"), place.at("project/node_modules/undici-types"), { recursive: true });
    const compilerOptions = {
      module,
      moduleResolution,
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
    };
    place.write("project/typed.ts", TYPED);
    place.write("project/tsconfig.json", JSON.stringify({ compilerOptions, files: ["typed.ts"] }));
    const compiler = join(modules, "typescript", "bin", "tsc");
    const env = cleanEnvironment(place.at("home"));
    const options = { cwd: place.at("project"), env, timeout: 60_000 };
    const { code, stdout } = await runProgram(process.execPath, [compiler, "-p", "."], options);
    expect([stdout, code]).toEqual(["", 0]);
  });
}

test("the package holds no path of the machine that made it", () => {
  const library = place.at("project/node_modules/backtrail/library");
  const machine = join(import.meta.dirname, "..", "..");
  const files = readdirSync(library, { recursive: true, encoding: "utf8" }).filter((name) => /\.(js|ts)$/.test(name));
  expect(files.filter((name) => readFileSync(join(library, name), "utf8").includes(machine))).toEqual([]);
});
