/** An agent without an adapter: its profile describes its transcripts, replies and hook file. */
import { isRecord } from "../../base/json.ts";
import type { AgentContext, Event, HookEnvelope } from "../../model/event.ts";
import { asBuffer, parseLine } from "../../transcripts/lines.ts";
import type { Agent, TranscriptAnalyzer } from "../contract/agent.ts";
import type { LinesSection, Profile } from "../contract/profile.ts";
import { templateHookFile } from "../hooks/file.ts";
import { noticeIn } from "../hooks/notice.ts";
import { commonEvent, readable } from "../registry/profile-events.ts";
import { analyzerOf } from "../shared/transcript/analyzer.ts";
import { createForker } from "./fork.ts";
import { findTranscript } from "./place.ts";
import { type Description, entryReader } from "./transcript.ts";
import { waitForAnswer } from "./wait-for-turn.ts";

export function describedAgent(profile: Profile): Agent {
  const { hooks, transcript, resume } = profile;
  const agent: Agent = {
    profile,
    toEvent: (envelope, context) => placedEvent(profile, envelope, context),
    ...(hooks?.notice_reply ? { responder: noticeIn(hooks.notice_reply) } : {}),
    ...(hooks?.template ? { hookFile: templateHookFile(profile, hooks.template) } : {}),
  };
  const lines = transcript?.lines;
  if (!lines) return agent;
  const description = descriptionOf(profile, lines);
  return {
    ...agent,
    analyzer: describedAnalyzer(description),
    preparer: { waitForTurn: (_event, path, from) => waitForAnswer(path, from, description) },
    ...(transcript.fork && resume ? { forker: createForker(profile, description) } : {}),
  };
}

/** The event with the transcript's path, which many agents do not send. */
function placedEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null || event.transcriptPath !== null || !profile.transcript?.place) return event;
  const path = findTranscript(profile, context.projectRoot ?? context.cwd, event.sessionId);
  return { ...event, transcriptPath: readable(path, context.mayRead) };
}

export function descriptionOf(profile: Profile, lines: LinesSection): Description {
  return { lines, tools: profile.hooks?.tools ?? {} };
}

function wholeText(bytes: Uint8Array): unknown {
  return parseLine(asBuffer(bytes), { start: 0, end: bytes.length });
}

function describedAnalyzer(description: Description): TranscriptAnalyzer {
  const { lines } = description;
  return analyzerOf(entryReader(description), {
    countsTokens: lines.tokens !== undefined,
    // The profile says that it is a document, even where all of it is one line.
    ...(lines.list === undefined ? {} : { isWhole: (bytes: Uint8Array) => isRecord(wholeText(bytes)) }),
  });
}
