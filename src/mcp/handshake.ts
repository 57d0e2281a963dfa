/** A connection to a client that begins with `initialize`: every protocol version before 2026-07-28. */

import { randomUUID } from "node:crypto";
import { isRecord } from "../base/json.ts";
import { logError } from "../base/log.ts";
import { CAPABILITIES, HANDSHAKE_VERSIONS, INSTRUCTIONS, SERVER } from "./about.ts";
import { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import {
  errorOf,
  INVALID_PARAMS,
  isMessageId,
  type MessageId,
  ProtocolError,
  parsed,
  unknownMethod,
} from "./message.ts";

/** How long a person may think. */
const MAX_THINKING_MS = 600_000;
/** Requests that wait for an answer of ours; more than any client has open. */
const MAX_OPEN = 200;

interface ConnectionOptions {
  cwd: string;
  limits: Limits;
  prepare: () => Promise<void>;
}

interface OpenRequest {
  isCancelled: boolean;
  /** Takes back a question that the person has not answered. */
  stopAsking: () => void;
}

export class HandshakeConnection {
  readonly #send: (message: object) => void;
  readonly #limits: Limits;
  readonly #prepare: () => Promise<void>;
  readonly #context: Context;
  /** The client's requests. */
  readonly #open = new Map<MessageId, OpenRequest>();
  /** Our questions to the client. */
  readonly #asked = new Map<MessageId, (reply: unknown) => void>();
  #capabilities: unknown;
  #prepared: Promise<void> | undefined;

  constructor(send: (message: object) => void, { cwd, limits, prepare }: ConnectionOptions) {
    this.#send = send;
    this.#limits = limits;
    this.#prepare = prepare;
    this.#context = new Context(cwd);
  }

  /** Takes one line. No content ends the connection. */
  receive(line: string): void {
    const message = parsed(line);
    if (!isRecord(message)) return;
    const { id, method, params } = message;
    if (typeof method !== "string") this.#replied(message);
    else if (isMessageId(id)) void this.#answer(id, method, isRecord(params) ? params : {});
    else if (method === "notifications/cancelled" && isRecord(params)) this.#cancel(params["requestId"]);
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#cancel(id);
  }

  async #answer(id: MessageId, method: string, params: Record<string, unknown>): Promise<void> {
    if (this.#open.has(id) || this.#open.size >= MAX_OPEN) {
      this.#send({ id, error: { code: INVALID_PARAMS, message: "Too many open requests, or an id that is in use" } });
      return;
    }
    const request: OpenRequest = { isCancelled: false, stopAsking: () => undefined };
    this.#open.set(id, request);
    let reply: object;
    try {
      reply = { result: await this.#result(method, params, request) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) logError(`mcp ${method.slice(0, 40)}`, error);
      reply = { error: errorOf(error) };
    }
    this.#open.delete(id);
    if (!request.isCancelled) this.#send({ id, ...reply });
  }

  async #result(method: string, params: Record<string, unknown>, request: OpenRequest): Promise<object> {
    switch (method) {
      case "initialize":
        return this.#initialize(params);
      case "ping":
        return {};
      case "tools/list":
        return { tools: (await import("./tools/index.ts")).describeTools() };
      case "tools/call":
        return this.#call(params, request);
      case "resources/templates/list":
        return { resourceTemplates: (await import("./resources.ts")).TEMPLATES };
      case "resources/list":
        return this.#resources((found) => found.listResources(this.#context, this.#limits));
      case "resources/read":
        return this.#resources((found) => found.readResource(params["uri"], this.#context, this.#limits));
      default:
        throw unknownMethod();
    }
  }

  #initialize({ protocolVersion, capabilities, clientInfo }: Record<string, unknown>): object {
    const known = HANDSHAKE_VERSIONS.find((version) => version === protocolVersion);
    const name = isRecord(clientInfo) && typeof clientInfo["name"] === "string" ? clientInfo["name"] : undefined;
    this.#capabilities = capabilities;
    this.#context.client = () => name;
    return {
      protocolVersion: known ?? HANDSHAKE_VERSIONS[0],
      capabilities: CAPABILITIES,
      serverInfo: SERVER,
      instructions: INSTRUCTIONS,
    };
  }

  async #call(params: Record<string, unknown>, request: OpenRequest): Promise<object> {
    const { TOOLS } = await import("./tools/index.ts");
    const { call } = await import("./tool.ts");
    const { canAsk, settle } = await import("./ask.ts");
    const tool = TOOLS.find(({ name }) => name === params["name"]);
    if (!tool) throw new ProtocolError(INVALID_PARAMS, "There is no such tool.");
    await this.#ready();
    let answer = await call(tool, params["arguments"] ?? {}, this.#context, this.#limits);
    if (answer.question && canAsk(this.#capabilities)) {
      const reply = request.isCancelled ? undefined : await this.#ask(answer.question.message, request);
      // A cancelled request is over: whatever the person said came too late.
      answer = await settle(answer, request.isCancelled ? undefined : reply, this.#limits);
    }
    const { text, isError } = answer;
    return { content: [{ type: "text", text }], ...(isError && { isError }) };
  }

  async #resources<T>(work: (resources: typeof import("./resources.ts")) => Promise<T>): Promise<T> {
    const resources = await import("./resources.ts");
    await this.#ready();
    return work(resources);
  }

  async #ready(): Promise<void> {
    this.#prepared ??= this.#prepare();
    await this.#prepared;
  }

  /** The client's reply; undefined if there is none. */
  async #ask(message: string, request: OpenRequest): Promise<unknown> {
    const { FORM } = await import("./ask.ts");
    const id = randomUUID();
    return new Promise((resolve) => {
      const end = (reply: unknown) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve(reply);
      };
      const stop = () => {
        this.#send({ method: "notifications/cancelled", params: { requestId: id } });
        end(undefined);
      };
      const timer = setTimeout(stop, MAX_THINKING_MS);
      request.stopAsking = () => this.#asked.has(id) && stop();
      this.#asked.set(id, end);
      this.#send({ id, method: "elicitation/create", params: { message, requestedSchema: FORM } });
    });
  }

  /** A reply to our question. An error counts as no reply. */
  #replied({ id, result }: Record<string, unknown>): void {
    if (isMessageId(id)) this.#asked.get(id)?.(result);
  }

  #cancel(id: unknown): void {
    const request = isMessageId(id) ? this.#open.get(id) : undefined;
    if (!request) return;
    request.isCancelled = true;
    request.stopAsking();
  }
}
