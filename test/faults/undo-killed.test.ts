/** An undo that is killed is exactly before or exactly after, and what came later is there either way. */
import { expect, test } from "bun:test";
import { edit, write } from "../support/index.ts";
import { AFTER, BEFORE, World } from "./killed-world.ts";

/** What has a file of its own to move, at most as many as an undo of the second turn has. */
const POINTS = AFTER.filter((point) => !/^restore:file:[67]$/.test(point));

/** A third turn behind the one that is taken back. */
async function withThirdTurn(): Promise<{ world: World; undone: string[]; [Symbol.dispose](): void }> {
  const world = await World.make();
  await world.agent.turn("Third", [write("src/third.ts", "third\n"), edit("src/first.ts", "first", "first and third")]);
  world.present = world.files();
  const later = world.present.filter((line) => /^src\/(?:first|third)\.ts /.test(line));
  const undone = [...world.past.filter((line) => !line.startsWith("src/first.ts ")), ...later].sort();
  return { world, undone, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

async function isWhole(world: World): Promise<void> {
  expect(world.repository.read("build.log")).toBe("ignored\n");
  expect(world.repository.git("fsck", "--no-dangling", "--strict")).toBe("");
  expect((await world.repository.run(["doctor", "--check"])).code).toBe(0);
  expect(world.leftovers()).toEqual([]);
}

for (const point of BEFORE) {
  test(`killed at ${point}: nothing has happened yet`, async () => {
    using made = await withThirdTurn();
    const { world, undone } = made;
    expect((await world.die(point, "undo", "2", "--yes")).signal).toBe("SIGKILL");
    expect(world.files()).toEqual(world.present);
    await world.run("undo", "2", "--yes");
    expect(world.files()).toEqual(undone);
    await isWhole(world);
  });
}

for (const point of POINTS) {
  test(`killed at ${point}: the next command finishes it`, async () => {
    using made = await withThirdTurn();
    const { world, undone } = made;
    const staged = world.repository.git("ls-files", "--stage");
    expect((await world.die(point, "undo", "2", "--yes")).signal).toBe("SIGKILL");
    const next = await world.run("save", "afterwards");
    expect(next.stderr).toContain("Finished an undo that had been interrupted");
    expect(world.files()).toEqual(undone);
    expect(world.repository.git("ls-files", "--stage")).toBe(staged);
    expect((await world.repository.run(["undo", "2", "--yes"])).stderr).toContain("is undone already");
    await world.run("redo", "--yes");
    expect(world.files()).toEqual(world.present);
    await isWhole(world);
  });
}

test("a redo of an undo that is killed is finished as well", async () => {
  using made = await withThirdTurn();
  const { world } = made;
  await world.run("undo", "2", "--yes");
  expect((await world.die("restore:file:2", "redo", "--yes")).signal).toBe("SIGKILL");
  expect((await world.run("save", "afterwards")).stderr).toContain("Finished a redo");
  expect(world.files()).toEqual(world.present);
  await isWhole(world);
});

test("killed at any moment, it is exactly before or exactly after", async () => {
  for (let sample = 0; sample < 3; sample++) {
    using made = await withThirdTurn();
    const { world, undone } = made;
    const began = performance.now();
    await world.run("undo", "2", "--dry-run");
    const dry = performance.now() - began;
    await world.killAfter(Math.random() * dry * 2.5, "undo", "2", "--yes");
    await world.run("save", "afterwards");
    expect([JSON.stringify(undone), JSON.stringify(world.present)]).toContain(JSON.stringify(world.files()));
    await isWhole(world);
  }
});
