/** Decides what a recording proves of the things that a profile promises. Part of `agents check`. */
import { parse } from "node:path";
import { asBuffer, completeLines, parseLine } from "../../transcripts/lines.ts";
import type { Agent } from "../contract/agent.ts";
import { isSessionId, placeOf } from "../generic/place.ts";
import { messagesIn } from "../generic/transcript.ts";
import { textAt } from "../registry/paths.ts";
import type { Recording, Transcript } from "./capture/format.ts";
import type { PayloadCheck } from "./check.ts";
import type { TranscriptCheck } from "./check-transcript.ts";

export type Provable = "hooks" | "prompts" | "place" | "conversation" | "tokens" | "cuts" | "fork";

export interface Proof {
  what: Provable;
  /** `absent`: the profile does not promise it. */
  state: "proven" | "unproven" | "absent";
  /** How many records prove it. */
  by: number;
}

interface Evidence {
  recording: Recording;
  payloads: readonly PayloadCheck[];
  transcripts: readonly TranscriptCheck[];
  /** Hooks without a recorded payload. */
  missing: readonly string[];
}

export function proofsOf(agent: Agent, { recording, payloads, transcripts, missing }: Evidence): Proof[] {
  const { profile, analyzer, forker } = agent;
  const real = payloads.filter(({ example }) => !example);
  const hooks = Object.keys(profile.hooks?.install ?? {}).length;
  const starts = payloads.filter(({ type }) => type === "TurnStart");
  const sum = (count: (check: TranscriptCheck) => number) => transcripts.reduce((all, check) => all + count(check), 0);
  const told = starts.filter(({ prompt }) => prompt !== null).length;
  const read = sum(({ prompts }) => prompts);
  const isTelling = analyzer !== undefined && analyzer.countsTokens !== false;
  return [
    proof("hooks", hooks > 0, missing.some((name) => name !== "transcript.lines") ? 0 : real.length),
    proof("prompts", hooks > 0 && !hasNoPrompts(agent), told > 0 ? told : read),
    proof("place", profile.transcript !== undefined, placed(agent, recording, payloads)),
    proof(
      "conversation",
      analyzer !== undefined,
      Math.min(
        read,
        sum(({ answers }) => answers),
      ),
    ),
    proof(
      "tokens",
      isTelling,
      sum(({ tokens }) => tokens),
    ),
    proof("cuts", forker !== undefined, transcripts.filter(({ cut }) => cut).length),
    proof("fork", forker !== undefined, continuedCopies(agent, recording, payloads)),
  ];
}

/** For an agent whose prompts nothing tells; the profile says why. */
export function hasNoPrompts({ profile, analyzer }: Agent): boolean {
  return profile.cannot?.chat !== undefined && profile.hooks?.fields.prompt === undefined && analyzer === undefined;
}

function proof(what: Provable, isPromised: boolean, by: number): Proof {
  return { what, state: isPromised ? (by > 0 ? "proven" : "unproven") : "absent", by };
}

/** Payloads that name a transcript, or sessions whose transcript is where the pattern says. */
function placed({ profile }: Agent, { cwd, home, transcripts }: Recording, payloads: readonly PayloadCheck[]): number {
  const { transcript } = profile;
  const written = new Set(transcripts.flatMap(({ path }) => path ?? []));
  if (!transcript?.place || cwd === null || home === null) {
    return payloads.filter(
      ({ transcriptPath }) => transcriptPath !== null && (home === null || written.has(transcriptPath)),
    ).length;
  }
  const { place, directory } = transcript;
  const told = payloads.flatMap(({ sessionId }) => sessionId ?? []);
  // Without hooks, a transcript is in its place if some id explains its path.
  const named = [...written].flatMap((path) => path.split("/").flatMap((name) => [name, parse(name).name]));
  const sessions = [...new Set(payloads.length > 0 ? told : named.filter(isSessionId))];
  return sessions.filter((id) => {
    const path = `/${directory}/${placeOf(place, transcript, cwd, id)}`;
    return [...written].some((each) => each.endsWith(path));
  }).length;
}

/**
 * Copies of a conversation that the agent continued: another session's transcript with the same first entries, more
 * entries after them, and hooks that ran in that session.
 */
function continuedCopies(agent: Agent, { transcripts }: Recording, payloads: readonly PayloadCheck[]): number {
  const sessions = new Set(payloads.flatMap(({ sessionId }) => sessionId ?? []));
  const all = transcripts.map((each) => ({ each, ids: idsIn(agent, each) })).filter(({ ids }) => ids.length > 0);
  const isCopy = ({ each, ids }: (typeof all)[number]) =>
    [...sessions].some((session) => (each.path ?? each.file).includes(session)) &&
    all.some(({ each: other, ids: old }) => {
      const shared = ids.findIndex((id, index) => id !== old[index]);
      return other !== each && other.file !== each.file && shared > 0 && shared < ids.length && old[0] === ids[0];
    });
  // Where hooks ran in both sessions, both count.
  return Math.ceil(all.filter(isCopy).length / 2);
}

function idsIn({ profile }: Agent, { bytes }: Transcript): string[] {
  const lines = profile.transcript?.lines;
  if (!lines?.id) return [];
  const buffer = asBuffer(bytes);
  const values =
    lines.list === undefined
      ? [...completeLines(buffer)].map((at) => parseLine(buffer, at))
      : messagesIn(buffer, lines);
  return values.map((value) => textAt(value, lines.id)).filter((id) => id !== null);
}
