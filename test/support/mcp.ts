/** Clients of the MCP server: the SDK's own, on the standard input and output of the built executable. */
import { Client, type ElicitResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { executable } from "./binary.ts";
import { minute as timeAt } from "./environment.ts";
import type { TemporaryRepository } from "./repository.ts";

/** How a client opens the connection: as clients of 2025 do, or by the revision of 2026-07-28. */
export const ERAS = { "2025": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;
export type Era = keyof typeof ERAS;

interface ConnectOptions {
  era?: Era;
  /** What the client calls itself. */
  name?: string;
  cwd?: string;
  /** How the person replies to questions; without it, the client can't ask any. */
  reply?: (message: string) => unknown;
  /** Fixes the server's time at so many minutes into the journey. */
  minute?: number | undefined;
}

export interface Answer {
  text: string;
  isError: boolean;
}

export class McpClient implements AsyncDisposable {
  readonly sdk: Client;
  readonly #transport: StdioClientTransport;

  private constructor(sdk: Client, transport: StdioClientTransport) {
    this.sdk = sdk;
    this.#transport = transport;
  }

  static async connect(
    repository: TemporaryRepository,
    { era = "2025", name = "claude-code", cwd = repository.path, minute, reply }: ConnectOptions = {},
  ): Promise<McpClient> {
    const transport = new StdioClientTransport({
      command: executable(),
      args: ["mcp"],
      cwd,
      env: repository.environment({
        BACKTRAIL_WORKER: "off",
        ...(minute === undefined ? {} : { BACKTRAIL_CLOCK: timeAt(minute) }),
      }),
      stderr: "ignore",
    });
    const sdk = new Client(
      { name, version: "1" },
      {
        versionNegotiation: { mode: ERAS[era] },
        ...(reply && { capabilities: { elicitation: { form: {} } } }),
      },
    );
    if (reply)
      sdk.setRequestHandler("elicitation/create", async ({ params }) => (await reply(params.message)) as ElicitResult);
    await sdk.connect(transport);
    return new McpClient(sdk, transport);
  }

  get pid(): number | null {
    return this.#transport.pid;
  }

  async call(name: string, input: Record<string, unknown> = {}): Promise<Answer> {
    const { content, isError = false } = await this.sdk.callTool({ name, arguments: input });
    const [only, ...others] = content;
    if (only?.type !== "text" || others.length > 0) throw new Error("The answer is not one text.");
    return { text: only.text, isError };
  }

  /** The text of an answer that is no error. */
  async ask(name: string, input: Record<string, unknown> = {}): Promise<string> {
    const { text, isError } = await this.call(name, input);
    if (isError) throw new Error(`${name} failed: ${text}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sdk.close();
  }
}
