/**
 * Payloads of every agent through the built executable, with what it does watched from outside where strace is at hand:
 * no process but git and ours, no write outside of the repository and the user's own directories.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { executable, runProgram } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { recordedAgents } from "../seeds.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";
import { demandHarmless, STRACE, straceArguments } from "../watch.ts";
import { FuzzWorld } from "../world.ts";

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
        return labeled({ agent: id, verb: random.pick(verbs), watched: random.once(4) ? "yes" : "no" }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
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
  const env = repository.environment({
    BACKTRAIL_WORKER: "off",
    TMPDIR: temporary,
    CLAUDE_PROJECT_DIR: repository.path,
  });
  const result = await runProgram(strace, [...straceArguments(trace), executable(), "hooks", agent, verb], {
    cwd: repository.path,
    env,
    input: body,
    timeout: 60_000,
  });
  demand(result.code === 0 && result.stderr === "", `A watched hook ended with ${result.code}: ${result.stderr}`);
  demandHarmless(trace, repository.path, [repository.path, repository.home], "A hook");
}
