/**
 * Sends what waits, in batches that can be repeated: forgotten sessions first, then the chosen level, then turns, oldest
 * first. What the hub has acknowledged is on disk after each request, so a killed process repeats at most one batch.
 */

import { now } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault-point.ts";
import { acquire } from "../base/fs/lock.ts";
import { forgottenKeys } from "../checkpoints/forget/tombstones.ts";
import type { Workspace } from "../git/workspace.ts";
import { HubClient, HubError } from "./client.ts";
import { levelNumber } from "./levels.ts";
import type { Membership } from "./membership.ts";
import { type Draft, Outgoing } from "./outgoing.ts";
import { MAX_BODY_BYTES, type SharedTurn, type TurnsAnswer } from "./protocol.ts";
import { lowerShare, readShare, type Share } from "./sharing.ts";
import {
  blankState,
  type Failure,
  failureAfter,
  nextRevision,
  readSendState,
  type SendState,
  sendLock,
  writeSendState,
} from "./state.ts";

/** Turns in a request; fewer if they are long. */
const BATCH_TURNS = 200;
const BATCH_BYTES = MAX_BODY_BYTES / 2;
/** Marks turns that the hub does not take, so that they are not sent again unless they change. */
const REFUSED = "!";
/** Refusals that say nothing about a turn: the repository is not shared there, the person has become a reader. */
const OF_ALL_TURNS: ReadonlySet<string> = new Set(["not-shared", "scope"]);
/** How long a command waits for the background to finish. */
export const COMMAND_WAIT_MS = 60_000;

export interface Waiting {
  drafts: Draft[];
  forgotten: string[];
  /** The hub does not know the chosen level yet. */
  announcement: boolean;
}

export type SendResult =
  | { kind: "sent"; turns: number; forgotten: number; refused: number }
  | { kind: "failed"; failure: Failure }
  /** Another process is sending. */
  | { kind: "busy" }
  /** This repository is not shared, and nothing was forgotten since. */
  | { kind: "not-shared" };

/** What would be sent now. Changes nothing. */
export function waitingFor(
  workspace: Workspace,
  share: Share | undefined,
  outgoing: Outgoing | null,
  state: SendState,
): Waiting {
  const acknowledged = new Set(state.forgotten);
  return {
    drafts: (outgoing?.drafts ?? []).filter(({ key, mark }) => {
      const sent = state.sent[key];
      return sent !== mark && sent !== REFUSED + mark;
    }),
    // Sessions that were never shared may have been on another machine.
    forgotten: share || state.announced ? [...forgottenKeys(workspace)].filter((key) => !acknowledged.has(key)) : [],
    announcement: share !== undefined && state.announced !== share.chosenAt,
  };
}

/** Waits for another process that is sending, at most `waitMs`. */
export async function send(workspace: Workspace, membership: Membership, waitMs = 0): Promise<SendResult> {
  const lock = await acquire(sendLock(workspace), waitMs);
  if (!lock) return { kind: "busy" };
  const run = new Sending(workspace, membership, readSendState(workspace));
  try {
    return await run.all();
  } catch (error) {
    return { kind: "failed", failure: run.fail(error) };
  } finally {
    lock.release();
  }
}

class Sending {
  readonly #workspace: Workspace;
  readonly #client: HubClient;
  #state: SendState;

  constructor(workspace: Workspace, { url, token }: Membership, state: SendState) {
    this.#workspace = workspace;
    this.#client = new HubClient(url, token);
    this.#state = state;
  }

  async all(): Promise<SendResult> {
    const share = readShare(this.#workspace);
    if (!share && this.#state.announced === null) return { kind: "not-shared" };
    await this.#checkGeneration();
    const forgotten = await this.#forget(waitingFor(this.#workspace, share, null, this.#state).forgotten);
    const sent = share ? await this.#turns(await this.#announce(share)) : { turns: 0, refused: 0 };
    this.#save({ failure: null, lastSentAt: now().toISOString() });
    return { kind: "sent", ...sent, forgotten };
  }

  fail(error: unknown): Failure {
    const known = error instanceof HubError ? error : new HubError("refused", messageOf(error));
    const failure = failureAfter(this.#state.failure, known.kind, known.message, known.retryAfter);
    this.#save({ failure });
    return failure;
  }

  /** An index that was created again lacks everything that was acknowledged. */
  async #checkGeneration(): Promise<void> {
    const { generation } = await this.#client.me();
    if (generation === this.#state.generation) return;
    if (this.#state.generation !== null) this.#state = { ...blankState(), revision: this.#state.revision };
    this.#save({ generation });
  }

  async #forget(keys: readonly string[]): Promise<number> {
    for (let at = 0; at < keys.length; at += 500) {
      const sessions = keys.slice(at, at + 500);
      await this.#client.forget({ sessions });
      // Also the refused ones: they belong to other people.
      const sent = Object.entries(this.#state.sent).filter(([key]) => !sessions.includes(key.split(" ")[0] ?? ""));
      this.#save({ forgotten: [...this.#state.forgotten, ...sessions], sent: Object.fromEntries(sent) });
    }
    return keys.length;
  }

  async #announce(share: Share): Promise<Share> {
    if (this.#state.announced === share.chosenAt) return share;
    const { repository, level, chosenAt } = share;
    const answer = await this.#client.share({ repository, level, chosenAt, sentAt: now().toISOString() });
    this.#save({ announced: chosenAt });
    return this.#atMost(share, answer.level);
  }

  /** The level that the user chose last, on whichever machine, holds everywhere. */
  #atMost(share: Share, level: Share["level"]): Share {
    if (levelNumber(level) >= levelNumber(share.level)) return share;
    lowerShare(this.#workspace, share, level);
    return { ...share, level };
  }

  async #turns(share: Share): Promise<{ turns: number; refused: number }> {
    const outgoing = await Outgoing.open(this.#workspace, share);
    const { drafts } = waitingFor(this.#workspace, share, outgoing, this.#state);
    let refused = 0;
    for (let at = 0; at < drafts.length; at += BATCH_TURNS) {
      const batch = drafts.slice(at, at + BATCH_TURNS);
      const documents = await outgoing.documents(batch);
      const pairs = batch.flatMap((draft, i) => (documents[i] ? [{ draft, document: documents[i] }] : []));
      for (const part of bySize(pairs)) refused += await this.#batch(share, part);
    }
    this.#forgetGone(outgoing);
    return { turns: drafts.length - refused, refused };
  }

  /** Sends one batch. If the hub refuses it as a whole, its halves are tried, so that one turn never blocks the others. */
  async #batch(share: Share, pairs: readonly Pair[]): Promise<number> {
    const revision = nextRevision(this.#state);
    this.#save({ revision });
    let answer: TurnsAnswer;
    try {
      answer = await this.#client.turns({
        repository: share.repository,
        revision,
        turns: pairs.map(({ document }) => document),
      });
    } catch (error) {
      if (!(error instanceof HubError) || error.kind !== "refused" || OF_ALL_TURNS.has(error.answer ?? "")) throw error;
      if (pairs.length > 1) {
        const half = Math.ceil(pairs.length / 2);
        return (await this.#batch(share, pairs.slice(0, half))) + (await this.#batch(share, pairs.slice(half)));
      }
      this.#acknowledge(pairs, () => true);
      return 1;
    }
    faultPoint("team:sent");
    const refused = new Set(answer.refused.map(({ session, turn }) => `${session} ${turn}`));
    this.#acknowledge(pairs, ({ draft }) => refused.has(draft.key));
    this.#atMost(share, answer.level);
    return refused.size;
  }

  #acknowledge(pairs: readonly Pair[], isRefused: (pair: Pair) => boolean): void {
    const marks = pairs.map((pair) => [pair.draft.key, (isRefused(pair) ? REFUSED : "") + pair.draft.mark] as const);
    this.#save({ sent: { ...this.#state.sent, ...Object.fromEntries(marks) } });
  }

  /** Turns that have expired here stay on the hub; only their marks go. */
  #forgetGone({ drafts }: Outgoing): void {
    const current = new Set(drafts.map(({ key }) => key));
    const kept = Object.entries(this.#state.sent).filter(([key]) => current.has(key));
    if (kept.length < Object.keys(this.#state.sent).length / 2) this.#save({ sent: Object.fromEntries(kept) });
  }

  #save(change: Partial<SendState>): void {
    this.#state = { ...this.#state, ...change };
    writeSendState(this.#workspace, this.#state);
  }
}

interface Pair {
  draft: Draft;
  document: SharedTurn;
}

function bySize(pairs: readonly Pair[]): Pair[][] {
  const parts: Pair[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const pair of pairs) {
    const bytes = JSON.stringify(pair.document).length * 2;
    if (size + bytes > BATCH_BYTES) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(pair);
    size += bytes;
  }
  return parts;
}
