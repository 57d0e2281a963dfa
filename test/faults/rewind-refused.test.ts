import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { executable, runProgram } from "../support/index.ts";
import { World } from "./killed-world.ts";

/** 512-byte blocks that a process may write to one file: what a full disk does, without one. */
function limited(world: World, blocks: number, ...args: string[]) {
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`;
  const env = world.repository.environment();
  return runProgram("sh", ["-c", script, executable(), ...args], { cwd: world.repository.path, env });
}

test("a disk that is too full for the files to restore: nothing is changed", async () => {
  using world = await World.make();
  writeFileSync(world.repository.at("large.bin"), Buffer.alloc(400_000, "x"));
  await world.run("save", "large");
  writeFileSync(world.repository.at("large.bin"), "small");
  const before = world.files();
  const result = await limited(world, 300, "rewind", "large", "--yes");
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("Nothing was changed.");
  expect(world.files()).toEqual(before);
  expect(world.leftovers()).toEqual([]);
  await world.run("rewind", "large", "--yes");
  expect(world.repository.read("large.bin")).toHaveLength(400_000);
});

test.skipIf(process.getuid?.() === 0)("a directory that can't be written: nothing is changed", async () => {
  using world = await World.make();
  const before = world.files();
  chmodSync(world.repository.at("src"), 0o555);
  const result = await world.repository.run(["rewind", world.target, "--yes"]);
  chmodSync(world.repository.at("src"), 0o755);
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("could not be restored: permission denied");
  expect(world.files()).toEqual(before);
  expect(world.leftovers()).toEqual([]);
});

test("an unreadable journal is left for the user", async () => {
  using world = await World.make();
  await world.die("restore:file:1", "rewind", world.target, "--yes");
  const [name] = world.leftovers().filter((path) => path.endsWith("journal.json"));
  writeFileSync(world.repository.at(".git", name ?? ""), "{ torn");
  const next = await world.run("save", "afterwards");
  expect(next.stderr).toContain("can't be read");
  expect(world.leftovers().filter((path) => path.endsWith("journal.json"))).toEqual([name ?? ""]);
  const safety = (await world.steps()).find(({ kind }) => kind === "safety");
  await world.rewind(safety?.id ?? "");
  expect(world.files()).toEqual(world.present);
});
