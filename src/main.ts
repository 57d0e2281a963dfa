/** The executable's entry: hooks take the short road, a link named after an agent serves it, the rest is the command line,
 * of which `aiwr` is one command. */
import { runHook } from "./hook.ts";

async function start(): Promise<number> {
  const argv = process.argv.slice(2);
  if (argv[0] === "hooks" && argv.length >= 3) {
    await runHook(argv.slice(1));
    return 0;
  }
  if (argv[0] === "worker" && argv[1] && argv[2] === "push") {
    const { runPusher } = await import("./lifecycle/pushing.ts");
    return runPusher(argv[1]);
  }
  if (argv[0] === "worker" && argv[1]) {
    const { runWorker } = await import("./lifecycle/worker.ts");
    return runWorker(argv[1]);
  }
  if (/(?:backtrail|entire)-agent-[^/\\]+$/.test(process.argv0)) {
    const { serveAs } = await import("./cli/commands/agent-protocol.ts");
    return serveAs(process.argv0, argv);
  }
  const { main, mainAsRun } = await import("./cli/main.ts");
  return /(?:^|[/\\])aiwr(?:\.exe)?$/.test(process.argv0) ? mainAsRun(argv) : main(argv);
}

start().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
