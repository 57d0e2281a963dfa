/** What the real agents sent and wrote, as the place to begin from. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/agents/contract/agent.ts";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { getPackaged } from "../../src/agents/registry/registry.ts";

const fixtures = join(import.meta.dirname, "..", "agents");

export interface Recorded {
  agent: Agent;
  payloads: string[];
  transcripts: Buffer[];
}

export async function recordedAgents(): Promise<Map<string, Recorded>> {
  const agents = new Map<string, Recorded>();
  for (const id of Object.keys(PACKAGED)) {
    const read = (folder: string) => {
      const directory = join(fixtures, id, folder);
      if (!existsSync(directory)) return [];
      return readdirSync(directory)
        .sort()
        .map((name) => readFileSync(join(directory, name)));
    };
    agents.set(id, {
      agent: await getPackaged(id),
      payloads: read("payloads").map((bytes) => bytes.toString("utf8")),
      transcripts: read("transcripts"),
    });
  }
  return agents;
}
