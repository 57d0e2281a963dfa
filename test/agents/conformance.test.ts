/** What every packaged agent must stand, against what it really sent. */

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { generated, isSame } from "../../scripts/generate-agents.ts";
import { checkAgent } from "../../src/agents/authoring/check.ts";
import type { Agent } from "../../src/agents/contract/agent.ts";
import { bestMatch } from "../../src/agents/registry/detect.ts";
import { contextOf, readPayload, toEnvelope } from "../../src/agents/registry/normalize.ts";
import { listAgents } from "../../src/agents/registry/registry.ts";
import { joinLines, splitLines } from "../../src/transcripts/chunks.ts";
import { ownHome } from "../support/own-home.ts";

const home = ownHome();

process.env["BACKTRAIL_HOME"] = home;
const agents = await listAgents();

test("generated files are up to date", () => {
  for (const [path, content] of generated()) {
    expect([path, isSame(path, readFileSync(path, "utf8"), content)]).toEqual([path, true]);
  }
});

for (const agent of agents) {
  const { id } = agent.profile;
  const fixtures = join(import.meta.dirname, id);

  describe(id, () => {
    // An agent without hooks sends none, and of a preview there may be no recording yet.
    const isRecorded = existsSync(join(fixtures, "payloads")) || agent.profile.preview !== true;
    const testPayloads: typeof test | (() => void) = agent.profile.hooks && isRecorded ? test : () => {};

    testPayloads("has recorded payloads, and they prove its profile", async () => {
      expect(await checkAgent(id, { fixtures })).toMatchObject({ ok: true, problems: [], unproven: [] });
    });

    testPayloads("is recognized by its payloads alone", () => {
      const profiles = agents.map((each) => each.profile);
      for (const { raw } of payloads(fixtures)) {
        expect(bestMatch(profiles, { payload: raw, env: {}, root: null })?.id).toBe(id);
      }
    });

    testPayloads("survives damaged payloads", () => {
      const texts = payloads(fixtures).map(({ text }) => text);
      const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 32, max: 126 })), { minLength: 1, maxLength: 8 });
      fc.assert(
        fc.property(fc.constantFrom(...texts), damage, (text, hits) => {
          const bytes = Buffer.from(text);
          for (const [at, value] of hits) bytes[at % bytes.length] = value;
          eventOf(agent, readPayload(bytes.toString("utf8"), []));
        }),
        { numRuns: 300 },
      );
    });

    testPayloads("survives payloads with values of any kind", () => {
      const raws = payloads(fixtures).map(({ raw }) => raw);
      fc.assert(
        fc.property(fc.constantFrom(...raws), fc.nat(), fc.jsonValue(), (raw, at, value) => {
          const names = Object.keys(raw);
          const name = names[at % names.length] ?? "session_id";
          eventOf(agent, { ...raw, [name]: value });
        }),
        { numRuns: 300 },
      );
    });

    test("its transcripts go through chunks unchanged", () => {
      for (const file of filesIn(join(fixtures, "transcripts"))) {
        const bytes = readFileSync(join(fixtures, "transcripts", file));
        const chunks = splitLines(bytes, 4096);
        if (file.endsWith(".jsonl")) expect(chunks.length).toBeGreaterThan(1);
        expect(Buffer.from(joinLines(chunks)).equals(bytes)).toBe(true);
      }
    });
  });
}

/** Past what catches an adapter's failures, so that they are seen. */
function eventOf(agent: Agent, raw: Record<string, unknown>): void {
  const envelope = toEnvelope(agent.profile, "stop", raw);
  const event = agent.toEvent(envelope, contextOf(agent.profile, envelope, { env: {}, cwd: "/" }));
  if (event) expect(typeof event.sessionId).toBe("string");
}

function payloads(fixtures: string): { text: string; raw: Record<string, unknown> }[] {
  return filesIn(join(fixtures, "payloads")).map((file) => {
    const text = readFileSync(join(fixtures, "payloads", file), "utf8");
    return { text, raw: readPayload(text, []) };
  });
}

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
