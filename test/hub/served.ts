/** A hub inside the test's own process, with people and their clients. */
import { tombstoneKey } from "../../src/checkpoints/forget/tombstones.ts";
import { Database, type DatabaseOptions } from "../../src/hub/database/connect.ts";
import { migrate } from "../../src/hub/database/migrate.ts";
import { addPerson } from "../../src/hub/people/people.ts";
import { invite } from "../../src/hub/people/tokens.ts";
import { type RunningHub, serveHub } from "../../src/hub/server/serve.ts";
import { HubClient } from "../../src/team/client.ts";
import type { Level, Role } from "../../src/team/levels.ts";
import type { SharedTurn } from "../../src/team/protocol.ts";

export class ServedHub {
  readonly database: Database;
  readonly log: Record<string, unknown>[] = [];
  #hub: RunningHub | undefined;

  private constructor(options: DatabaseOptions) {
    this.database = new Database(options);
  }

  static async start(
    url: string,
    { database = {}, ...options }: { joinsPerSecond?: number; database?: Partial<DatabaseOptions> } = {},
  ): Promise<ServedHub> {
    const served = new ServedHub({ url, ...database });
    await migrate(served.database);
    served.#hub = await serveHub(served.database, {
      host: "127.0.0.1",
      port: 0,
      requestsPerSecond: 100_000,
      ...options,
      log: (entry) => served.log.push(entry),
    });
    return served;
  }

  get url(): string {
    return this.#hub?.url ?? "";
  }

  /** Adds a person and joins as them. */
  async person(
    name: string,
    { role = "member", readsAll = null }: { role?: Role; readsAll?: Level | null } = {},
  ): Promise<{ client: HubClient; token: string }> {
    await addPerson(this.database, { name, email: `${name}@example.com`, role, readsAll });
    const { invitation } = await invite(this.database, name);
    const { token } = await new HubClient(this.url, null).join({ invitation, device: "laptop" });
    return { client: new HubClient(this.url, token), token };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub?.stop();
    await this.database.close();
  }
}

/** A turn at the level `everything`; each of its texts has the word `word`. */
export function exampleTurn(session: string, turn: number, word = "common"): SharedTurn {
  const minute = String(turn % 60).padStart(2, "0");
  return {
    agent: "claude-code",
    session: tombstoneKey(session),
    turn,
    startedAt: `2026-01-05T10:${minute}:00.000Z`,
    endedAt: `2026-01-05T10:${minute}:30.000Z`,
    model: "some-model",
    status: "kept",
    fileCount: 1,
    tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    apiCalls: 1,
    usd: null,
    text: {
      session,
      prompt: `${word} prompt of ${session}`,
      paths: [`src/${session}.ts`],
      checkpoints: [checkpointOf(session)],
    },
    messages: [{ kind: "answer", tool: null, text: `${word} answer of ${session}` }],
  };
}

export function checkpointOf(session: string): string {
  return tombstoneKey(session).slice(0, 12);
}
