/**
 * Serves MCP on standard input and output until the client closes them. An agent waits for the server at each start, so
 * a client that begins with `initialize`, as agents do today, is served without the SDK, which takes longer to load
 * than everything else. The SDK serves the revision of 2026-07-28.
 */
import { PassThrough } from "node:stream";
import { isRecord } from "../base/json.ts";
import { logError } from "../base/log.ts";
import { VERSION_KEY } from "./about.ts";
import { HandshakeConnection } from "./handshake.ts";
import { Limits } from "./limits.ts";
import { Lines } from "./lines.ts";
import { parsed } from "./message.ts";

/** No tool takes input of this size; a longer message ends the connection. */
const MAX_MESSAGE = 1024 * 1024;
const NEWLINE = 10;

/**
 * Resolves when the client has gone. Running calls are not answered, but their writes are complete.
 *
 * @param prepare runs before the first call.
 */
export async function serve(cwd: string, prepare: () => Promise<void> = async () => undefined): Promise<void> {
  const limits = new Limits();
  const { stdin, stdout } = process;
  let close: () => Promise<void> | void = () => undefined;
  await new Promise<void>((end) => {
    stdin.once("end", end);
    stdin.once("close", end);
    stdin.once("error", end);
    stdout.on("error", () => end());
    let opening = Buffer.alloc(0);
    const open = (chunk: Buffer) => {
      opening = Buffer.concat([opening, chunk]);
      const length = opening.indexOf(NEWLINE);
      if (length < 0 && opening.length <= MAX_MESSAGE) return;
      stdin.off("data", open);
      if (length >= 0 && isHandshake(opening.toString("utf8", 0, length))) begin();
      else handOver().catch(failed);
    };
    const begin = () => {
      const write = (message: object) => void stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      const connection = new HandshakeConnection(write, { cwd, limits, prepare });
      const lines = new Lines(MAX_MESSAGE);
      const receive = (chunk: Buffer) => {
        try {
          for (const line of lines.add(chunk)) connection.receive(line);
        } catch (error) {
          failed(error);
        }
      };
      close = () => connection.close();
      stdin.on("data", receive);
      receive(opening);
    };
    const handOver = async () => {
      const input = new PassThrough();
      input.write(opening);
      stdin.pipe(input);
      await prepare();
      const { serveWithSdk } = await import("./sdk-server.ts");
      close = serveWithSdk({ input, output: stdout, maxMessage: MAX_MESSAGE }, cwd, limits);
    };
    const failed = (error: unknown) => {
      logError("mcp", error);
      end();
    };
    stdin.on("data", open);
  });
  await close();
  await limits.idle();
}

/** True for an `initialize` that does not claim a version without a handshake. */
function isHandshake(line: string): boolean {
  const message = parsed(line);
  if (!isRecord(message) || message["method"] !== "initialize") return false;
  const { params } = message;
  const meta = isRecord(params) ? params["_meta"] : undefined;
  return !(isRecord(meta) && VERSION_KEY in meta);
}
