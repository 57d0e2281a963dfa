/**
 * Shows what Backtrail does, with the built executable in a temporary repository: a scripted agent works for two
 * turns and breaks something, which is rewound and redone. Fails if anything differs from what it prints.
 */
import { bash, edit, ScriptedClaude, temporaryRepository, write } from "../test/support/index.ts";

const repository = temporaryRepository({ empty: true });
const GOOD = "export const price = (net) => net * 1.2;\n";
const BAD = "export const price = (net) => net * 12;\n";

try {
  await story();
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  repository.remove();
}

async function story(): Promise<void> {
  tell("A repository with one file, and a file that git ignores.");
  repository.write("price.js", "export const price = (net) => net;\n");
  repository.write(".gitignore", ".env\n");
  repository.write(".env", "KEY=secret\n");
  repository.commit("first");
  await command("enable", "--agent", "claude-code");

  tell('The agent\'s first turn: "Add the tax". It edits price.js.');
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn("Add the tax", [edit("price.js", "=> net", "=> net * 1.2")], "The price now includes 20 % tax.");
  file("price.js", GOOD);

  tell('The second: "Tidy up". It breaks price.js, adds a file, and moves one by a shell command.');
  const deeds = [
    edit("price.js", "1.2", "12"),
    write("notes.md", "# Notes\n"),
    bash("mkdir -p lib && mv price.js lib/"),
  ];
  await agent.turn("Tidy up", deeds, "All tidy.");
  await agent.end();
  file("price.js", undefined);
  file("lib/price.js", BAD);
  file("notes.md", "# Notes\n");

  tell("Both turns were recorded.");
  await command("log");

  tell("Back to before the second turn: the files and the conversation.");
  await command("rewind", "1", "--yes");
  file("price.js", GOOD);
  file("lib/price.js", undefined);
  file("notes.md", undefined);
  file(".env", "KEY=secret\n");

  tell("And forward again.");
  await command("redo", "--yes");
  file("price.js", undefined);
  file("lib/price.js", BAD);
  file("notes.md", "# Notes\n");

  tell("Nothing of this shows in git, and the agent's settings are left as they were.");
  await command("disable");
  console.log(`\n$ git log --all --oneline\n${repository.git("log", "--all", "--oneline")}`);

  tell("Put dist/backtrail on your PATH, and in a repository of your own:");
  console.log("\n$ backtrail enable\n$ backtrail view       # the same in the browser");
}

/** Prints a command as a user would type it, and its output. */
async function command(...args: string[]): Promise<void> {
  console.log(`\n$ backtrail ${args.join(" ")}`);
  const colors = process.stdout.isTTY ? { NO_COLOR: undefined, FORCE_COLOR: "1", TERM: "xterm-256color" } : {};
  const result = await repository.run(args, { env: colors });
  process.stdout.write(tidy(result.stdout + result.stderr));
  if (result.code !== 0) throw new Error(`backtrail ${args[0]} ended with ${result.signal ?? result.code}.`);
}

/** Shows a file as it is, and makes sure that it is what the story says. */
function file(name: string, expected: string | undefined): void {
  const content = repository.exists(name) ? repository.read(name) : undefined;
  console.log(content === undefined ? `    ${name} is not there` : `    ${name}: ${content.trim()}`);
  if (content !== expected) throw new Error(`${name} is not as it should be.`);
}

function tell(text: string): void {
  console.log(`\n— ${text}`);
}

function tidy(text: string): string {
  return text.replaceAll(repository.path, "~/shop").replaceAll(repository.home, "~");
}
