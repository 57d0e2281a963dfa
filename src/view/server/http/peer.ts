/**
 * Which user's process a connection on loopback comes from, where the system tells (Linux). The address with the token
 * is briefly in the arguments of the started browser, where every user of the machine can read it.
 */
import { readFileSync } from "node:fs";

export interface Peer {
  /** The port of the client's end. */
  port: number;
}

/** A closed connection, of which the kernel has forgotten the owner. */
const TIME_WAIT = "06";

/** False if the connection is another user's; the superuser's are let in, as that user can read everything anyway. */
export function isOwnUsers({ port }: Peer, serverPort: number, tables = socketTables()): boolean {
  const own = process.getuid?.();
  if (own === undefined) return true;
  const owner = ownerOf(port, serverPort, tables);
  // A client without a socket here can't be asked about, and gets no answer either.
  return owner === undefined || owner === own || owner === 0;
}

function ownerOf(clientPort: number, serverPort: number, tables: string): number | undefined {
  for (const line of tables.split("\n")) {
    const [, local = "", remote = "", state = "", , , , uid = ""] = line.trim().split(/\s+/);
    if (state === TIME_WAIT || portOf(local) !== clientPort || portOf(remote) !== serverPort) continue;
    return Number(uid);
  }
  return undefined;
}

/** From "0100007F:9C4B". */
function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

function socketTables(): string {
  return ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(read).join("\n");
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
