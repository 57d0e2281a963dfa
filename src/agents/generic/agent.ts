/** An agent without code of its own whose profile describes its transcript's lines: read, and cut where it may be. */
import type { Agent } from "../agent.ts";
import { profileAgent } from "../common.ts";
import type { LinesSection, Profile } from "../profile.ts";
import { createAnalyser } from "./analyse.ts";
import { waitForAnswer } from "./flush.ts";
import { createForker } from "./fork.ts";
import type { Description } from "./items.ts";

export function describedAgent(profile: Profile, lines: LinesSection): Agent {
  const description = descriptionOf(profile, lines);
  const agent: Agent = {
    ...profileAgent(profile),
    analyser: createAnalyser(description),
    preparer: { waitForTurn: (_event, path, from) => waitForAnswer(path, from, description) },
  };
  if (!profile.transcript?.fork || !profile.resume) return agent;
  return { ...agent, forker: createForker(profile, description) };
}

export function descriptionOf(profile: Profile, lines: LinesSection): Description {
  return { lines, tools: profile.hooks?.tools ?? {} };
}
