/**
 * The executable's entry point: runs hooks without loading the command line, serves the agent that a link is named
 * after, and otherwise runs the command line. A link named `aiwr` runs one of its commands.
 */
import { writeSync } from "node:fs";
import { endRunningGit } from "./git/run.ts";
import { runHook } from "./hook.ts";

async function start(): Promise<number> {
  const argv = process.argv.slice(2);
  if (argv[0] === "hooks" && argv.length >= 3) {
    await runHook(argv.slice(1));
    return 0;
  }
  if (argv[0] === "worker" && argv[1]) {
    // The worker records what failed, and the next command shows it.
    const { installWords } = await import("./cli/render/words/index.ts");
    installWords();
  }
  if (argv[0] === "worker" && argv[1] && argv[2] === "push") {
    const { runPusher } = await import("./commits/push.ts");
    return runPusher(argv[1]);
  }
  if (argv[0] === "worker" && argv[1] === "--index") {
    const { indexEverything } = await import("./search/background.ts");
    return indexEverything();
  }
  if (argv[0] === "worker" && argv[1] && argv[2] === "send") {
    const { runSender } = await import("./team/background.ts");
    return runSender(argv[1]);
  }
  if (argv[0] === "worker" && argv[1]) {
    const { runWorker } = await import("./maintenance/worker.ts");
    const code = await runWorker(argv[1]);
    const { sendInBackground } = await import("./team/background.ts");
    await sendInBackground(argv[1]);
    const { checkInBackground } = await import("./trials/check/background.ts");
    await checkInBackground(argv[1]);
    const { indexTurn } = await import("./search/background.ts");
    await indexTurn(argv[1]);
    return code;
  }
  if (argv[0] === "statusline" && argv.length === 1) {
    const { statusLine } = await import("./cli/commands/mcp/statusline.ts");
    const line = await statusLine(process.cwd());
    if (line !== null) writeSync(1, `${line}\n`);
    return 0;
  }
  // An agent waits for its servers at each start, so the command line is not loaded for this one.
  if (argv[0] === "mcp" && argv.length === 1 && !process.stdin.isTTY) {
    const { serve } = await import("./mcp/serve.ts");
    await serve(process.cwd(), async () => (await import("./cli/render/words/index.ts")).installWords());
    return 0;
  }
  if (/(?:backtrail|entire)-agent-[^/\\]+$/.test(process.argv0)) {
    const { serveAs } = await import("./cli/commands/agents/agent-protocol.ts");
    return serveAs(process.argv0, argv);
  }
  const { main, mainAsRun } = await import("./cli/main.ts");
  return /(?:^|[/\\])aiwr(?:\.exe)?$/.test(process.argv0) ? mainAsRun(argv) : main(argv);
}

start().then(
  (code) => end(code),
  (error: unknown) => {
    console.error(error);
    end(1);
  },
);

/** Stops git processes that a failed command may have left running. */
function end(code: number): never {
  endRunningGit();
  process.exit(code);
}
