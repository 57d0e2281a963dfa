/** Profiles with damage: what is wrong is named, and one that still counts can't be used against its user. */
import { mkdirSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Scope } from "../../../src/agents/contract/profile.ts";
import { problemsOf } from "../../../src/agents/contract/schema.ts";
import { findTranscript } from "../../../src/agents/generic/place.ts";
import { entriesFor } from "../../../src/agents/hooks/edits.ts";
import { fileFor } from "../../../src/agents/hooks/location.ts";
import { contextOf, toEnvelope, toEvent } from "../../../src/agents/registry/normalize.ts";
import { agentOfProfile, getAgent, getPackaged, userAgentsDirectory } from "../../../src/agents/registry/registry.ts";
import { isInside } from "../../../src/base/paths.ts";
import { temporaryDirectory } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { recordedAgents } from "../seeds.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

const SEEDS = ["qwen", "kimi-code", "cline", "antigravity"];
const HOME = "/home/somebody";

export const profiles: Target = {
  name: "profiles",
  cost: 4,
  async open() {
    const place = temporaryDirectory();
    const before = process.env["BACKTRAIL_HOME"];
    process.env["BACKTRAIL_HOME"] = place.at("home");
    mkdirSync(userAgentsDirectory(), { recursive: true });
    const texts = new Map<string, string>();
    for (const id of SEEDS) texts.set(id, JSON.stringify((await getPackaged(id)).profile));
    const recorded = await recordedAgents();
    return {
      input(random) {
        const agent = random.pick(SEEDS);
        const text = texts.get(agent) ?? "{}";
        const body = random.once(4) ? damaged(random, Buffer.from(text)) : damagedJson(random, text);
        return labeled({ agent }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const id = about["agent"] ?? "";
        writeFileSync(join(userAgentsDirectory(), `${id}.json`), body);
        const value = parsed(body);
        const problems = problemsOf(value);
        demand(
          problems.every((problem) => typeof problem === "string" && problem !== ""),
          "A problem has no words.",
        );
        // A hook loads it whatever its problems are.
        const agent = await getAgent(id);
        demand(agent !== undefined, "A damaged profile hides the packaged one.");
        const { payloads, transcripts } = recorded.get(id) ?? { payloads: [], transcripts: [] };
        if (problems.length > 0) return;
        for (const text of payloads.slice(0, 3)) {
          const raw = parsed(Buffer.from(text)) as Record<string, unknown>;
          const envelope = toEnvelope(agent.profile, "stop", raw);
          toEvent(agent, envelope, contextOf(agent.profile, envelope, { env: {}, cwd: "/" }));
        }
        const valid = await agentOfProfile(agent.profile);
        for (const bytes of transcripts.slice(0, 1)) valid.analyzer?.readSlice(Buffer.from(bytes), 0);
        const path = findTranscript(agent.profile, "/home/somebody/../x", "..");
        demand(path === null, "A session's id leads out of the directory.");
        for (const { command } of agent.profile.hooks ? entriesFor(agent.profile, (verb) => verb) : []) {
          demand(/^[a-z0-9-]+$/.test(command), "A verb would be more than one word of a command.");
        }
        for (const scope of ["project", "user"] as const satisfies readonly Scope[]) {
          if (!agent.profile.hooks?.settings[scope]?.path) continue;
          const workspace = { kind: "repository", root: "/repository", commonDir: "/g", storeDir: "/s" } as const;
          const file = fileFor(agent.profile, scope, { workspace, executable: "/b/backtrail", home: HOME, env: {} });
          demand(isAbsolute(file) && isInside(scope === "user" ? HOME : "/repository", file), "A file is elsewhere.");
        }
      },
      close() {
        if (before === undefined) delete process.env["BACKTRAIL_HOME"];
        else process.env["BACKTRAIL_HOME"] = before;
        place.remove();
      },
    };
  },
};

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
