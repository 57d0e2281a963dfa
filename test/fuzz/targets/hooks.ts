/**
 * Payloads of every agent through the built executable, with what it does watched from outside where strace is at hand:
 * no process but git and ours, no write outside of the repository and the user's own directories.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../../../src/base/paths.ts";
import { executable, runProgram } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { recordedAgents } from "../seeds.ts";
import { demand, labelled, type Target, unlabelled } from "../target.ts";
import { FuzzWorld } from "../world.ts";

const STRACE = Bun.which("strace");
const CALLS =
  "execve,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat";

export const hooks: Target = {
  name: "hooks",
  cost: 100,
  async open() {
    const agents = [...(await recordedAgents())].filter(([, { payloads }]) => payloads.length > 0);
    const world = await FuzzWorld.make();
    if (!STRACE) console.log("hooks: strace is not here, so what hooks write and start is not watched");
    return {
      input(random) {
        const [id, { agent, payloads }] = random.pick(agents);
        // What is recorded names directories of another machine; here it is to be about this one.
        const real = random
          .pick(payloads)
          .replaceAll(/"(\/[^"]*\/)?[\w-]*cwd"\s*:\s*"[^"]*"/g, `"cwd": ${JSON.stringify(world.repository.path)}`);
        const body = random.once(3) ? damaged(random, Buffer.from(real)) : damagedJson(random, real);
        const verbs = Object.values(agent.profile.hooks?.install ?? {}).map(({ verb }) => verb);
        return labelled({ agent: id, verb: random.pick(verbs), watched: random.once(4) ? "yes" : "no" }, body);
      },
      async run(input) {
        const { about, body } = unlabelled(input);
        const { agent = "", verb = "" } = about;
        if (about["watched"] === "yes" && STRACE) await watched(world, STRACE, agent, verb, body);
        else await world.hook(agent, verb, body);
      },
      close: () => world.remove(),
    };
  },
};

async function watched(world: FuzzWorld, strace: string, agent: string, verb: string, body: Uint8Array): Promise<void> {
  const { repository } = world;
  const trace = resolve(repository.home, "trace");
  const temporary = resolve(repository.home, "tmp");
  mkdirSync(temporary, { recursive: true });
  const args = ["-f", "-qq", "-e", `trace=${CALLS}`, "-e", "signal=none", "-s", "4096", "-o", trace];
  const env = repository.environment({
    BACKTRAIL_WORKER: "off",
    TMPDIR: temporary,
    CLAUDE_PROJECT_DIR: repository.path,
  });
  const result = await runProgram(strace, [...args, executable(), "hooks", agent, verb], {
    cwd: repository.path,
    env,
    input: body,
    timeout: 60_000,
  });
  demand(result.code === 0 && result.stderr === "", `A watched hook ended with ${result.code}: ${result.stderr}`);
  const roots = [repository.path, repository.home, "/dev", "/proc/self"];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    if (/ = -1 E/.test(line)) continue;
    const program = /execve\("([^"]*)"/.exec(line)?.[1];
    if (program !== undefined)
      demand(program === executable() || /(^|\/)git(-[a-z-]+)?$/.test(program), `A hook started ${program}.`);
    if (!/O_WRONLY|O_RDWR|O_CREAT|(rename|unlink|mkdir|link|creat|truncate|chmod|rmdir)/.test(line)) continue;
    for (const [, path = ""] of line.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      if (line.includes("execve(")) continue;
      const full = resolve(repository.path, path);
      demand(
        roots.some((root) => isInside(root, full)),
        `A hook wrote to ${path}: ${line}`,
      );
    }
  }
  rmSync(trace, { force: true });
}
