/** Refs below ours that lead to something else: another kind of object, a tree of nonsense, a commit that is no checkpoint. */
import { execFileSync } from "node:child_process";
import { damaged } from "../mutate.ts";
import { labeled, type Target, unlabeled } from "../target.ts";
import { FuzzWorld } from "../world.ts";

const REFS = [
  "refs/backtrail/sessions/0123456789abcdef0123",
  "refs/backtrail/sessions/HEAD",
  "refs/backtrail/sessions/--exec",
  "refs/backtrail/imported/0123456789abcdef0123",
  "refs/heads/entire/checkpoints/v1",
  "refs/remotes/origin/entire/checkpoints/v1",
  "refs/entire/checkpoints/AV/01ARZ3NDEKTSV4RRFFQ69G5FAV",
];
const NAMES = ["steps", "transcript", "session.json", "\u001b[31m", "a b", "-x", "__proto__", "metadata.json"];
const COMMANDS = [
  ["log"],
  ["doctor", "--check"],
  ["doctor", "--fix"],
  ["status"],
  ["explain", "HEAD"],
  ["clean", "--yes"],
];
COMMANDS.push(
  ["explain", "0123456789ab"],
  ["why", "a.txt"],
  ["import", "--agent", "claude-code"],
  ["rewind", "1", "--yes"],
);

export const refs: Target = {
  name: "refs",
  cost: 150,
  async open() {
    const world = await FuzzWorld.make();
    const git = (args: string[], input: Uint8Array | string = "") =>
      execFileSync("git", args, {
        cwd: world.repository.path,
        env: world.repository.environment(),
        input,
        stdio: ["pipe", "pipe", "ignore"],
      })
        .toString()
        .trim();
    return {
      input(random) {
        const about = {
          ref: random.pick(REFS),
          kind: random.pick(["blob", "tree", "commit", "nested"]),
          name: random.pick(NAMES),
          command: random.pick(COMMANDS).join(" "),
        };
        return labeled(about, damaged(random, Buffer.from('{"v":1,"id":"klmnopqrstuv"}')));
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        world.reset();
        const blob = git(["hash-object", "-w", "--stdin"], body);
        const treeOf = (mode: string, type: string, id: string, name: string) =>
          git(["mktree", "-z"], `${mode} ${type} ${id}\t${name}\0`);
        const name = about["name"] ?? "steps";
        const tree = treeOf("100644", "blob", blob, name);
        const nested = treeOf("040000", "tree", treeOf("040000", "tree", tree, name), "steps");
        const ids: Record<string, string> = { blob, tree, nested, commit: git(["commit-tree", nested, "-m", "x"]) };
        const ref = about["ref"] ?? "";
        // A branch can only be a commit.
        const id = ref.startsWith("refs/heads/") ? ids["commit"] : ids[about["kind"] ?? "blob"];
        git(["update-ref", ref, id ?? blob]);
        await world.hook("claude-code", "stop", JSON.stringify(world.payload("Stop")));
        await world.command(["worker", world.repository.path]);
        await world.command((about["command"] ?? "log").split(" "));
      },
      close: () => world.remove(),
    };
  },
};
