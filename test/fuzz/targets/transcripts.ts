/** Transcripts of every agent: read whole, read from the middle, cut, and redacted there and back. */
import { agentOfTranscript } from "../../../src/agents/registry/detect.ts";
import { forkOf } from "../../../src/agents/shared/fork.ts";
import { UserError } from "../../../src/base/errors.ts";
import { newSessionId } from "../../../src/base/ids.ts";
import { isInside } from "../../../src/base/paths.ts";
import { PlaceholderTable, restorePlaceholders } from "../../../src/transcripts/redact/placeholders.ts";
import { createRedactor } from "../../../src/transcripts/redact/redactor.ts";
import { damaged, damagedLines } from "../mutate.ts";
import { recordedAgents } from "../seeds.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

const HOME = "/home/dev";

export const transcripts: Target = {
  name: "transcripts",
  cost: 4,
  async open() {
    // An agent whose conversations have a fixed place has them below the user's home.
    process.env["HOME"] = HOME;
    const agents = await recordedAgents();
    const writing = [...agents].filter(([, { transcripts }]) => transcripts.length > 0);
    const profiles = [...agents.values()].map(({ agent }) => agent.profile);
    const redactor = await createRedactor();
    return {
      input(random) {
        const [id, { transcripts }] = random.pick(writing);
        const bytes = random.pick(transcripts);
        const body = random.once(2) ? damagedLines(random, bytes) : damaged(random, bytes, transcripts);
        return labeled({ agent: id }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const agent = agents.get(about["agent"] ?? "")?.agent;
        demand(agent !== undefined, "The agent is not known.");
        const conversation = agent.analyzer?.read(body);
        const middle = body.indexOf(10, body.length >> 1) + 1;
        for (const from of [0, middle]) {
          const slice = agent.analyzer?.readSlice(body.subarray(from), from);
          if (!slice) continue;
          demand(slice.end >= from && slice.end <= body.length, "A slice ends outside of its transcript.");
          demand(Object.values(slice.tokens).every(Number.isFinite), "Tokens are no numbers.");
        }
        agentOfTranscript(profiles, body);
        const ids = conversation?.entries.map(({ id }) => id) ?? [];
        for (const lastId of [null, ids[ids.length >> 1] ?? null]) {
          try {
            const fork =
              agent.forker &&
              forkOf(agent.forker, {
                bytes: body,
                lastId,
                transcriptPath: `${HOME}/sessions/-code-app/original.jsonl`,
                newSessionId: newSessionId(),
                projectRoot: `${HOME}/code/app`,
                title: conversation?.title ?? "Title",
              });
            const paths = fork ? [fork.transcriptPath, ...(fork.files ?? []).map(({ path }) => path)] : [];
            for (const path of paths) demand(isInside(HOME, path), `A fork would be written to ${path}.`);
          } catch (error) {
            // To refuse is an answer; to stumble is not.
            if (!(error instanceof UserError) || /undefined|null|not a function/.test(error.message)) throw error;
          }
        }
        redactThereAndBack(redactor, body);
      },
    };
  },
};

function redactThereAndBack(redactor: Awaited<ReturnType<typeof createRedactor>>, body: Buffer): void {
  const placeholders = new PlaceholderTable();
  const { bytes } = redactor.redact(body, { placeholders });
  demand(restorePlaceholders(bytes, placeholders).equals(body), "What was redacted does not come back.");
  const again = redactor.redact(bytes, { placeholders, again: true });
  demand(again.bytes.equals(bytes), "Redacting twice is not the same as once.");
  const [before, after] = [body, bytes].map((text) => text.toString("utf8").split("\n"));
  for (const [i, line] of (before ?? []).entries())
    if (isJson(line)) demand(isJson(after?.[i] ?? ""), "A line was JSON, and is not any more.");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
