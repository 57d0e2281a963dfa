/** The server on the SDK, for clients of the revision of 2026-07-28, which has no handshake. */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  McpServer,
  ResourceTemplate,
  ProtocolError as SdkProtocolError,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { logError } from "../base/log.ts";
import { INSTRUCTIONS, SERVER } from "./about.ts";
import { canAsk, FORM, settle } from "./ask.ts";
import { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import { errorOf } from "./message.ts";
import { listResources, readResource, TEMPLATES } from "./resources.ts";
import { type Answer, call, type Tool } from "./tool.ts";
import { TOOLS } from "./tools/index.ts";

/** Questions that wait for a person; the oldest is given up for a new one. */
const MAX_QUESTIONS = 8;
const REPLY = "apply";

interface Streams {
  input: Readable;
  output: Writable;
  maxMessage: number;
}

/** Returns what closes the connection. */
export function serveWithSdk({ input, output, maxMessage }: Streams, cwd: string, limits: Limits): () => Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: maxMessage });
  const handle = serveStdio(() => createServer(cwd, limits), { transport, onerror: (error) => logError("mcp", error) });
  return () => handle.close();
}

/** One server per connection. Limits are those of the process. */
function createServer(cwd: string, limits: Limits): McpServer {
  const server = new McpServer(SERVER, { instructions: INSTRUCTIONS });
  const context = new Context(cwd);
  context.client = () => server.server.getClientVersion()?.name;
  for (const tool of TOOLS) register(server, tool, context, limits);
  for (const { name, uriTemplate, ...about } of TEMPLATES) {
    const list = name === "session" ? () => asProtocol(() => listResources(context, limits)) : undefined;
    server.registerResource(name, new ResourceTemplate(uriTemplate, { list }), about, (uri) =>
      asProtocol(() => readResource(uri.href, context, limits)),
    );
  }
  return server;
}

/** In this revision the client asks the person and then calls again, with the reply and the question's key. */
function register(server: McpServer, tool: Tool, context: Context, limits: Limits): void {
  const { name, title, description, input: inputSchema, annotations } = tool;
  const waiting = new Map<string, Answer>();
  const about = { title, description, inputSchema, annotations: { title, ...annotations } };
  server.registerTool(name, about, async (input, { mcpReq }) => {
    const key = mcpReq.requestState();
    const asked = typeof key === "string" ? waiting.get(key) : undefined;
    if (typeof key === "string") waiting.delete(key);
    const answer = asked
      ? await settle(asked, mcpReq.inputResponses?.[REPLY], limits)
      : await call(tool, input, context, limits);
    const { text, isError, question } = answer;
    const envelope: Record<string, unknown> = { ...mcpReq.envelope };
    const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
    if (asked || !question || !canAsk(capabilities))
      return { content: [{ type: "text" as const, text }], ...(isError && { isError }) };
    const requestState = randomUUID();
    const [oldest] = waiting.keys();
    if (oldest !== undefined && waiting.size >= MAX_QUESTIONS) waiting.delete(oldest);
    waiting.set(requestState, answer);
    const form = inputRequired.elicit({ message: question.message, requestedSchema: FORM });
    return inputRequired({ inputRequests: { [REPLY]: form }, requestState });
  });
}

async function asProtocol<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = errorOf(error);
    throw new SdkProtocolError(code, message);
  }
}
