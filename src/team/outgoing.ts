/**
 * What this repository would send: the recorded turns whose current document differs from the one that the hub has.
 * The record itself is the queue, so nothing is lost with a killed process, and nothing is kept that `forget` removed.
 */

import { getAgent } from "../agents/registry/registry.ts";
import { listTurns, type Turn } from "../api/turns.ts";
import { hexDigest } from "../base/digest.ts";
import { sessionKey } from "../base/ids.ts";
import { forgottenSessions, tombstoneKey } from "../checkpoints/forget/tombstones.ts";
import { openRedaction, type Redaction, redactSession } from "../checkpoints/write/redaction.ts";
import type { Workspace } from "../git/workspace.ts";
import { changedPaths } from "../model/changes.ts";
import { readTranscript } from "../steps/conversation/transcript.ts";
import { type CheckpointLinks, checkpointLinks, linkKey } from "./checkpoint-links.ts";
import type { Level } from "./levels.ts";
import { limitedTo, type Message, type SharedTurn } from "./protocol.ts";
import { messagesByTurn, sharedTurn } from "./shared-turn.ts";
import type { Share } from "./sharing.ts";

/** A turn that may be sent. Its texts are not redacted yet. */
export interface Draft {
  /** `<session key> <turn>` */
  key: string;
  /** Changes whenever the document may change. */
  mark: string;
  turn: Turn;
}

export class Outgoing {
  /** Oldest first. */
  readonly drafts: readonly Draft[];
  readonly #workspace: Workspace;
  readonly #level: Level;
  readonly #redaction: Redaction;
  readonly #links: CheckpointLinks;
  readonly #sessions: ReadonlyMap<string, readonly Turn[]>;

  private constructor(
    workspace: Workspace,
    { level, since }: Share,
    redaction: Redaction,
    links: CheckpointLinks,
    turns: readonly Turn[],
  ) {
    this.#workspace = workspace;
    this.#level = level;
    this.#redaction = redaction;
    this.#links = links;
    this.#sessions = Map.groupBy(turns, ({ session }) => session);
    this.drafts = turns
      .filter((turn) => since === null || startOf(turn) >= since)
      .map((turn) => {
        const key = linkKey(tombstoneKey(turn.session), turn.number);
        return { key, mark: this.#mark(turn, key), turn };
      });
  }

  static async open(workspace: Workspace, share: Share): Promise<Outgoing> {
    const isForgotten = forgottenSessions(workspace) ?? (() => false);
    const turns = listTurns(workspace)
      .filter(({ session }) => !isForgotten(session))
      .reverse();
    const links = share.level === "counts" ? new Map() : await checkpointLinks(workspace);
    return new Outgoing(workspace, share, await openRedaction(workspace), links, turns);
  }

  /** The redacted documents of some drafts, in the same order. */
  async documents(drafts: readonly Draft[]): Promise<SharedTurn[]> {
    const made = new Map<string, SharedTurn>();
    for (const [session, own] of Map.groupBy(drafts, ({ turn }) => turn.session)) {
      const all = this.#sessions.get(session) ?? [];
      const names = all.flatMap(({ steps }) => steps.flatMap(({ files }) => changedPaths(files)));
      const documents = await redactSession(this.#redaction, names, async (redaction) => {
        const messages = this.#level === "everything" ? await this.#messages(all, redaction) : new Map();
        return own.map(({ key, turn }) => [key, this.#document(turn, key, redaction, messages)] as const);
      });
      for (const [key, document] of documents) made.set(key, document);
    }
    return drafts.flatMap(({ key }) => made.get(key) ?? []);
  }

  #document(turn: Turn, key: string, redaction: Redaction, messages: ReadonlyMap<number, Message[]>): SharedTurn {
    const end = turn.steps.find(({ kind }) => kind === "turn-end");
    const hasTexts = this.#level !== "counts";
    return limitedTo(
      sharedTurn({
        agent: turn.agent,
        session: turn.session,
        turn: turn.number,
        startedAt: startOf(turn),
        endedAt: turn.endedAt,
        model: turn.model,
        status: turn.status,
        paths: hasTexts ? changedPaths(turn.files).sort().map(redaction.name) : changedPaths(turn.files),
        tokens: turn.tokens,
        apiCalls: end?.apiCalls ?? null,
        usd: end?.usd ?? null,
        prompt: hasTexts && turn.prompt !== null ? redaction.text(turn.prompt) : null,
        checkpoints: this.#links.get(key) ?? [],
        messages: messages.get(turn.number) ?? [],
      }),
      this.#level,
    );
  }

  /** Redacts the whole transcript first, as checkpoints do, so that both give the same messages. */
  async #messages(turns: readonly Turn[], redaction: Redaction): Promise<Map<number, Message[]>> {
    const last = turns.flatMap(({ steps }) => steps).findLast(({ transcript }) => transcript !== null);
    const [first] = turns;
    if (!last?.transcript || !first) return new Map();
    const analyzer = (await getAgent(first.agent))?.analyzer;
    const key = sessionKey(first.agent, first.session);
    const { generation, offset } = newestPosition(turns) ?? last.transcript;
    const bytes = await readTranscript(this.#workspace, key, generation, offset);
    if (!analyzer || bytes.length === 0) return new Map();
    const conversation = await analyzer.read(redaction.transcript(bytes));
    const prompts = turns.map(({ number, prompt }) => ({
      turn: number,
      prompt: prompt === null ? null : redaction.text(prompt),
    }));
    return messagesByTurn(conversation, prompts);
  }

  #mark(turn: Turn, key: string): string {
    const end = turn.steps.find(({ kind }) => kind === "turn-end");
    const counts = [
      turn.agent,
      startOf(turn),
      turn.endedAt,
      turn.model,
      turn.status,
      turn.tokens,
      end?.apiCalls,
      end?.usd,
    ];
    const texts =
      this.#level === "counts"
        ? changedPaths(turn.files).length
        : [turn.prompt, changedPaths(turn.files), this.#links.get(key), this.#redaction.version];
    return hexDigest("sha256", JSON.stringify([1, this.#level, counts, texts])).slice(0, 16);
  }
}

/** The furthest position in the transcript that any step of the turns has. */
function newestPosition(turns: readonly Turn[]) {
  const positions = turns.flatMap(({ steps }) => steps.flatMap(({ transcript }) => (transcript ? [transcript] : [])));
  return positions.sort((a, b) => a.generation - b.generation || a.offset - b.offset).at(-1);
}

/** A turn without a recorded start began with its first step. */
function startOf({ startedAt, steps }: Turn): string {
  return startedAt ?? steps.at(-1)?.time ?? "";
}
