/**
 * Network inside a new namespace: brings the loopback interface up by the system call that `ip link` would
 * make, so that nothing has to be installed, and makes sure that there is no other way out.
 */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { readFileSync } from "node:fs";

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SIOCSIFFLAGS = 0x8914;
const IFF_UP_AND_RUNNING = 0x41;
const NAME_SIZE = 16;
const REQUEST_SIZE = 40;

export function raiseLoopback(): void {
  const { socket, ioctl, close } = openLibc().symbols;
  const request = new Uint8Array(REQUEST_SIZE);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setInt16(NAME_SIZE, IFF_UP_AND_RUNNING, true);
  const descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  const failed = ioctl(descriptor, SIOCSIFFLAGS, ptr(request)) !== 0;
  close(descriptor);
  if (failed) throw new Error("the loopback interface could not be brought up");
}

/** The interfaces that this process sees. */
export function interfaces(): string[] {
  return readFileSync("/proc/net/dev", "utf8")
    .split("\n")
    .slice(2)
    .map((line) => line.split(":")[0]?.trim() ?? "")
    .filter((name) => name !== "");
}

function openLibc() {
  const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
  for (const name of names) {
    try {
      return dlopen(name, {
        socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
        ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
        close: { args: [FFIType.i32], returns: FFIType.i32 },
      });
    } catch {
      // The other C library, then.
    }
  }
  throw new Error(`none of ${names.join(", ")} could be loaded`);
}
