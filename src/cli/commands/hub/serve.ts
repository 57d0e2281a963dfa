/** `hub serve`: serves the team until it gets a signal; then finishes running requests and exits. */
import { readFileSync } from "node:fs";
import { messageOf, UserError } from "../../../base/errors.ts";
import { Database } from "../../../hub/database/connect.ts";
import { serveHub } from "../../../hub/server/serve.ts";
import type { OptionsOf } from "../../program/spec.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonLine } from "../../terminal/json.ts";
import type { hubServeCommand } from "./commands.ts";
import { databaseUrl, inWords } from "./database.ts";

type Options = OptionsOf<typeof hubServeCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { host, port } = addressOf(options.listen ?? "127.0.0.1:7420");
  const tls = tlsOf(options);
  if (!tls && !options.behindProxy && !isLoopback(host))
    throw new UserError(
      "refused",
      `Without encryption, the hub listens on this machine only, not on ${host}.`,
      "Give --tls-cert and --tls-key, or --behind-proxy if a reverse proxy encrypts.",
    );
  const database = new Database({
    url: databaseUrl(io, options),
    ...(options.readDatabase === undefined ? {} : { readUrl: options.readDatabase }),
    ...(options.connections ? { maxConnections: options.connections } : {}),
  });
  try {
    const log = (entry: Record<string, unknown>) =>
      io.say(JSON.stringify({ time: new Date().toISOString(), ...entry }));
    const url = options.url === undefined ? undefined : pageAddress(options.url);
    const hub = await serveHub(database, {
      host,
      port,
      tls,
      url,
      behindProxy: options.behindProxy === true,
      metrics: options.metrics === true,
      log,
    });
    if (options.json) io.out.write(jsonLine({ url: hub.url }));
    else io.say(`Serving the team at ${hub.url}. Ctrl-C stops it.`);
    await signal();
    await hub.stop();
  } catch (error) {
    throw inWords(error);
  } finally {
    await database.close().catch(() => {});
  }
}

function signal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once("SIGINT", () => resolve());
  process.once("SIGTERM", () => resolve());
  return promise;
}

function addressOf(text: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^(?:\[(?=[^\]]*:))?([^[\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host !== "" && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new UserError(
    "usage",
    `"${text}" is not an address to listen on.`,
    "Give an address such as 127.0.0.1:7420 or [::1]:7420.",
  );
}

function pageAddress(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw new UserError(
    "usage",
    `"${text}" is not the address of a page.`,
    "Give an address such as https://hub.example.com.",
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function tlsOf({ tlsCert, tlsKey }: Options): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UserError("usage", "Give both --tls-cert and --tls-key.");
  try {
    return { cert: readFileSync(tlsCert, "utf8"), key: readFileSync(tlsKey, "utf8") };
  } catch (error) {
    throw new UserError("usage", `The certificate or its key cannot be read: ${messageOf(error)}`);
  }
}
