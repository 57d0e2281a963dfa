/** Files of our own store, damaged: hooks go on, commands say what is wrong in words. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { damaged, damagedJson, damagedLines } from "../mutate.ts";
import { labeled, type Target, unlabeled } from "../target.ts";
import { FuzzWorld } from "../world.ts";

const COMMANDS = [
  ["log"],
  ["log", "--json"],
  ["show", "last"],
  ["status"],
  ["status", "--json"],
  ["doctor", "--check"],
  ["doctor", "--fix"],
  ["rewind", "1", "--dry-run"],
  ["rewind", "prev", "--yes"],
  ["redo", "--yes"],
  ["diff", "last"],
  ["clean", "--dry-run"],
  ["clean", "--yes"],
  ["explain", "HEAD"],
  ["why", "a.txt"],
  ["save", "by hand"],
  ["forget", "Second", "--yes"],
  ["forget", "Second", "--conversation-only", "--yes"],
  ["disable", "--yes"],
];

export const store: Target = {
  name: "store",
  cost: 150,
  async open() {
    const world = await FuzzWorld.make();
    const place = (file: string) => world.repository.at(".git", file);
    return {
      input(random) {
        const file = random.pick(world.files);
        const bytes = readFileSync(join(world.repository.path, "..", "pristine", ".git", file));
        const lines = file.endsWith(".jsonl");
        const json = lines ? damagedLines(random, bytes) : damagedJson(random, bytes.toString("utf8"));
        const command = random.pick(COMMANDS).join(" ");
        return labeled({ file, command }, random.once(3) ? damaged(random, bytes) : json);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        world.reset();
        writeFileSync(place(nameHere(world, about["file"] ?? "")), body);
        await world.hook("claude-code", "user-prompt-submit", JSON.stringify(world.payload("UserPromptSubmit")));
        await world.hook("claude-code", "stop", JSON.stringify(world.payload("Stop")));
        await world.command(["worker", world.repository.path]);
        await world.command((about["command"] ?? "log").split(" "));
        // Whatever was damaged, what is saved from here on is saved.
        world.repository.git("fsck", "--no-dangling");
      },
      close: () => world.remove(),
    };
  },
};

/** Names hold ids that are new each time: an input that was kept means the file of the same kind. */
function nameHere(world: FuzzWorld, file: string): string {
  if (world.files.includes(file)) return file;
  const kind = (name: string) => name.replace(/[0-9a-f]{20}|[k-z]{12}/g, "*");
  return world.files.find((name) => kind(name) === kind(file)) ?? file;
}
