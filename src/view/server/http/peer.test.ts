import { expect, test } from "bun:test";
import { isOwnUsers } from "./peer.ts";

const own = process.getuid?.() ?? 0;
const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

/** Server on port 8080, client on port 40000. */
function tables(uid: number, state = "01"): string {
  return [
    HEAD,
    `   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  ${own}        0 1 1`,
    `   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  ${own}        0 2 1`,
    `   2: 0100007F:9C40 0100007F:1F90 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 3 1`,
  ].join("\n");
}

test("a connection of one's own and of the superuser is let in, another user's is not", () => {
  expect(isOwnUsers({ port: 40_000 }, 8080, tables(own))).toBe(true);
  expect(isOwnUsers({ port: 40_000 }, 8080, tables(0))).toBe(true);
  expect(isOwnUsers({ port: 40_000 }, 8080, tables(own + 1))).toBe(false);
  // The client has sent everything and still waits for the answer.
  expect(isOwnUsers({ port: 40_000 }, 8080, tables(own + 1, "05"))).toBe(false);
});

test("an unknown owner is let in", () => {
  expect(isOwnUsers({ port: 40_001 }, 8080, tables(own + 1))).toBe(true);
  expect(isOwnUsers({ port: 40_000 }, 8080, tables(own + 1, "06"))).toBe(true);
  expect(isOwnUsers({ port: 40_000 }, 8080, "")).toBe(true);
});
