/** `view`: shows the record in the browser, and ends after the last tab is closed. */
import { startView } from "../../../view/server/server.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonLine } from "../../terminal/json.ts";
import { openInBrowser } from "../../terminal/open-browser.ts";
import type { viewCommand } from "./commands.ts";

type Options = OptionsOf<typeof viewCommand>;

const DEFAULT_IDLE_SECONDS = 60;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openForReading(io);
  const server = await startView({
    workspace,
    port: options.port ?? 0,
    readOnly: options.readOnly === true,
    idleSeconds: options.idle ?? DEFAULT_IDLE_SECONDS,
    executable: ownExecutable(),
  });
  const stop = () => {
    server.stop().catch(() => undefined);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop).once("SIGHUP", stop);
  if (options.json) io.out.write(jsonLine({ url: server.url, pid: process.pid }));
  else io.print(server.url);
  const isOpened = options.open !== false && openInBrowser(server.url, io.environment);
  if (!options.json) {
    io.say(isOpened ? "Opened in your browser." : "Open this address in a browser. It works once.");
    io.say(io.err.paint("dim", "Stops when the last tab is closed, or with Ctrl-C."));
  }
  await server.ended;
}
