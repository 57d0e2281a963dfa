/** The model server: HTTP on loopback, answers by scenario, everything received written down first. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Conversation } from "./conversation.ts";
import { type Answer, type HttpRequest, isModelCall, type ModelCall, type Protocol, type Usage } from "./protocol.ts";
import type { Received } from "./received.ts";
import { choose, type Reply, type Scenario } from "./scenario.ts";

export interface ModelServer {
  url: string;
  close(): Promise<void>;
}

export interface ServerOptions {
  protocols: Protocol[];
  scenarios: Scenario[];
  received: Received;
}

export async function startServer(options: ServerOptions): Promise<ModelServer> {
  let count = 0;
  const server = createServer((request, response) => {
    const number = ++count;
    handle(options, number, request, response).catch((error: unknown) => {
      process.stderr.write(`model server: request ${number}: ${String(error)}\n`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(options: ServerOptions, number: number, incoming: IncomingMessage, response: ServerResponse) {
  const request = await readRequest(incoming);
  for (const protocol of options.protocols) {
    const read = protocol.read(request);
    if (!read) continue;
    if (isModelCall(read)) return answerCall(options, protocol, read, number, response);
    options.received.add({ type: "other", number, method: request.method, path: request.path, status: read.status });
    return sendJson(response, read.status, read.body);
  }
  options.received.add({ type: "other", number, method: request.method, path: request.path, status: 404 });
  sendJson(response, 404, { error: `nothing is served at ${request.path}` });
}

async function answerCall(
  { scenarios, received }: ServerOptions,
  protocol: Protocol,
  call: ModelCall,
  number: number,
  response: ServerResponse,
) {
  const choice = choose(scenarios, call.conversation, call.tools.length > 0);
  const usage = usageOf(call.conversation, choice.reply);
  const answer: Answer = { ...choice, id: String(number).padStart(4, "0"), usage };
  const { conversation, instructions, model, stream, tools, session, subagent } = call;
  const { failure } = choice.reply;
  const status = failure?.status ?? 200;
  received.add({
    type: "call",
    number,
    protocol: protocol.name,
    model,
    stream,
    tools,
    session,
    subagent,
    conversation,
    instructions,
    scenario: choice.scenario,
    index: choice.index,
    status,
    usage: failure ? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } : usage,
  });

  response.once("close", () => received.add({ type: "end", number, complete: response.writableFinished }));
  if (failure) return sendJson(response, status, protocol.error(status, failure.message));
  if (!stream) return sendJson(response, 200, protocol.whole(call, answer));
  await sendStream(response, protocol, call, answer);
}

async function sendStream(response: ServerResponse, protocol: Protocol, call: ModelCall, answer: Answer) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const piece of protocol.pieces(call, answer)) {
    if (piece.last && answer.reply.stalls) await closed(response);
    if (response.destroyed) return;
    response.write(piece.data);
    if (answer.reply.pace && !piece.last) await new Promise((resolve) => setTimeout(resolve, answer.reply.pace));
  }
  response.end();
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.once("close", () => resolve());
  });
}

/** Figures that follow from the conversation, different enough that a sum over the wrong calls shows. */
function usageOf(conversation: Conversation, reply: Reply): Usage {
  return {
    input: 10 + conversation.length,
    output: Math.ceil(JSON.stringify(reply.blocks).length / 4),
    cacheRead: 2_000 + 100 * conversation.length,
    cacheWrite: 1_000,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<HttpRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers: HttpRequest["headers"] = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  return {
    method: incoming.method ?? "GET",
    path: new URL(incoming.url ?? "/", "http://localhost").pathname,
    headers,
    body: parse(Buffer.concat(chunks).toString("utf8")),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
