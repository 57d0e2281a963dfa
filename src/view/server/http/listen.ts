/** The listening sockets: loopback only, the same port on IPv4 and IPv6. The only file of the viewer that uses Bun. */
import { codeOf, UserError } from "../../../base/errors.ts";
import type { Peer } from "./peer.ts";

export interface Connection {
  /** Lets a response stay open without any data. */
  keepOpen(): void;
  /** Null if the client has gone. */
  readonly peer: Peer | null;
}

export interface Listener {
  port: number;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** 0: any free port. */
  port: number;
  maxBodyBytes: number;
  answer(request: Request, connection: Connection): Promise<Response>;
}

const IPV4 = "127.0.0.1";
const IPV6 = "::1";

export function listen(options: ListenOptions): Listener {
  const first = bind(IPV4, options.port, options);
  const port = first.port ?? options.port;
  const servers = [first];
  try {
    servers.push(bind(IPV6, port, options));
  } catch {
    // There is no IPv6 here, or another program has this port: the address of the page is the IPv4 one anyway.
  }
  return {
    port,
    close: async () => {
      await Promise.all(servers.map((server) => server.stop(true)));
    },
  };
}

function bind(hostname: string, port: number, { answer, maxBodyBytes }: ListenOptions) {
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      reusePort: false,
      maxRequestBodySize: maxBodyBytes,
      idleTimeout: 30,
      fetch: (request, server) =>
        answer(request, { keepOpen: () => server.timeout(request, 0), peer: server.requestIP(request) }),
      error: () => new Response(null, { status: 500 }),
    });
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") throw error;
    throw new UserError("refused", `Port ${port} is in use.`, "Choose another with --port, or leave it out.");
  }
}
