/** The same story by every agent, ours and others': the same events, the same steps, the same files. */
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Agent } from "../../src/agents/contract/agent.ts";
import type { Profile } from "../../src/agents/contract/profile.ts";
import { agentFrom } from "../../src/agents/external/agent.ts";
import { infoFrom } from "../../src/agents/external/info.ts";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { profileAgent } from "../../src/agents/registry/profile-events.ts";
import { TemporaryDirectory } from "../support/index.ts";
import { expectedEvents, HookDriver } from "./hook-driver.ts";
import { NEVER_RUN, Recordings, UNRECORDED } from "./recordings.ts";
import { told, type World } from "./story.ts";
import { WatchDriver } from "./watch-driver.ts";

interface Subject {
  agent: Agent;
  payloads: string;
  begin(world: World): Promise<void>;
}

const home = new TemporaryDirectory();
afterAll(() => home.remove());
const parrot = join(import.meta.dirname, "example-agent", "parrot.mjs");

const subjects: Subject[] = [];
for (const [id, packaged] of Object.entries(PACKAGED)) {
  const profile = await packaged.profile();
  const adapter = await packaged.adapter?.();
  const agent = adapter ? adapter(profile) : profileAgent(profile);
  const payloads = join(import.meta.dirname, "..", "agents", id, "payloads");
  if (!agent.watcher && !NEVER_RUN.includes(id))
    subjects.push({ agent, payloads, begin: (world) => enable(world, id) });
}
subjects.push(external(), described());

for (const { agent, payloads, begin } of subjects) {
  const { id } = agent.profile;
  describe(id, () => {
    test("has payloads for the whole story", () => {
      expect(existsSync(payloads)).toBe(true);
      expect(driver().missing()).toEqual((UNRECORDED[id] ?? []).filter((name) => name !== "prompt"));
    });

    test("tells the same events", () => {
      const events = driver().events("/home/dev/project");
      expect(events[0]?.sessionId).toBeTruthy();
      expect(events).toEqual(expectedEvents(driver(), agent, events[0]?.sessionId ?? ""));
    });

    test("leaves the same steps and files", () => told(driver()));
  });

  function driver(): HookDriver {
    return new HookDriver(agent, new Recordings(agent, payloads), begin);
  }
}

describe("aider", () => {
  test("leaves the same steps and files", async () => {
    const driver = new WatchDriver();
    try {
      await told(driver);
    } finally {
      driver.stop();
    }
  });
});

test("no agent is left out", async () => {
  const known = new Set([...subjects.map(({ agent }) => agent.profile.id), "aider", ...NEVER_RUN]);
  expect(Object.keys(PACKAGED).filter((id) => !known.has(id))).toEqual([]);
});

async function enable({ repository, env }: World, ...args: string[]): Promise<void> {
  const { code, stderr } = await repository.run(["enable", "--agent", ...args], { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(repository.git("status", "--porcelain")).toBe("");
}

/** A program of somebody else's. */
function external(): Subject {
  const program = { name: "parrot", path: parrot };
  const before = process.env["BACKTRAIL_HOME"];
  process.env["BACKTRAIL_HOME"] = home.path;
  const info = infoFrom(program);
  if (before === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = before;
  return {
    agent: agentFrom(program, info),
    payloads: join(import.meta.dirname, "example-agent", "payloads"),
    async begin(world) {
      const bin = join(world.repository.home, "bin");
      symlinkSync(parrot, join(bin, "entire-agent-parrot"));
      world.env["PATH"] = `${bin}${delimiter}${process.env["PATH"]}`;
      await enable(world, "parrot", "--external");
    },
  };
}

/** An agent that its user has described in a file. */
function described(): Subject {
  const directory = join(import.meta.dirname, "own-agent");
  const file = join(directory, "profile.json");
  return {
    agent: profileAgent(JSON.parse(readFileSync(file, "utf8")) as Profile),
    payloads: join(directory, "payloads"),
    async begin(world) {
      const own = join(world.repository.home, "backtrail", "config", "agents");
      mkdirSync(own, { recursive: true });
      copyFileSync(file, join(own, "fable.json"));
      await enable(world, "fable");
    },
  };
}
