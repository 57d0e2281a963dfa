/** Serves MCP on standard input and output until the client closes them. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { logError } from "../base/log.ts";
import { Limits } from "./limits.ts";
import { createServer } from "./server.ts";

/** No tool takes input of this size; a longer message ends the connection. */
const MAX_MESSAGE = 1024 * 1024;

/** Resolves when the client has gone. Calls that still run are not answered, but what they write is complete. */
export async function serve(cwd: string): Promise<void> {
  const limits = new Limits();
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE });
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    process.stdout.once("error", () => resolve());
  });
  const handle = serveStdio(() => createServer(cwd, limits), {
    transport,
    onerror: (error) => logError("mcp", error),
  });
  await closed;
  await handle.close();
  await limits.idle();
}
