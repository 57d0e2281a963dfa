/** Sends bytes to a server and returns its whole answer: for requests that no HTTP client would send. */
import { connect } from "node:net";

export interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

export function sendRaw(port: number, request: string, host = "127.0.0.1"): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const socket = connect({ port, host });
  const parts: Buffer[] = [];
  socket.setTimeout(20_000, () => socket.destroy(new Error("The server did not answer.")));
  socket.on("data", (data: Buffer) => parts.push(data));
  socket.on("error", (error) => (parts.length > 0 ? resolve(parsed(parts)) : reject(error)));
  socket.on("close", () => resolve(parsed(parts)));
  socket.on("connect", () => socket.write(request));
  return promise;
}

/** Headers as given, then an empty line; the connection ends with the answer. */
export function rawRequest(method: string, path: string, headers: Record<string, string>, body = ""): string {
  const lines = Object.entries({ ...headers, Connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  const length = body === "" && method === "GET" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, ...lines, ...length, "", body].join("\r\n");
}

function parsed(parts: readonly Buffer[]): RawAnswer {
  const text = Buffer.concat(parts).toString("utf8");
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body: rest.join("\r\n\r\n") };
}
