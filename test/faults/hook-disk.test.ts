/** A full disk, on a small file system of its own: no hook fails, nothing that was saved breaks, and it goes on after. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { temporaryRepository } from "../support/index.ts";
import { harmless, Recording } from "../support/recording.ts";
import { mayMount, smallDisk } from "./small-disk.ts";

const canMount = mayMount();
if (!canMount) console.log("SKIPPED: hooks on a full disk: a file system can't be mounted here");

test.skipIf(!canMount)(
  "no room at all",
  async () => {
    using recording = await Recording.begin(temporaryRepository());
    using disk = smallDisk(recording.repository);
    const { repository } = recording;
    await recording.prompt("one");
    harmless(await recording.hook("Stop", recording.answer("Done with one.")));
    await recording.prompt("two");
    repository.write("a.txt", "written\n");
    disk.fill(0);
    harmless(await recording.hook("Stop", recording.answer("Done with two.")));
    harmless(await recording.hook("UserPromptSubmit", { prompt: "three" }));
    expect((await recording.steps()).length).toBe(3);
    disk.empty();

    harmless(await recording.hook("Stop", recording.answer("Done with three.")));
    const steps = await recording.steps();
    expect(steps[0]).toMatchObject({ kind: "turn-end", files: { added: ["a.txt"] } });
    expect(recording.heldSteps().sort()).toEqual(steps.map((step) => step.id).sort());
    expect(recording.leftovers()).toEqual([]);
    repository.git("fsck", "--full", "--strict", "--no-dangling");
  },
  60_000,
);

test.skipIf(!canMount)(
  "too little room for what changed: the log has the reason",
  async () => {
    using recording = await Recording.begin(temporaryRepository());
    using disk = smallDisk(recording.repository);
    const { repository } = recording;
    await recording.prompt("one");
    repository.write("big.bin", randomBytes(1 << 20));
    disk.fill(256 << 10);
    harmless(await recording.hook("Stop", recording.answer("Done.")));
    expect(recording.logged().at(-1)?.message).toMatch(/ENOSPC|no space/i);
    disk.empty();

    harmless(await recording.hook("Stop", {}));
    expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", files: { added: ["big.bin"] } });
    expect(recording.leftovers()).toEqual([]);
    repository.git("fsck", "--full", "--strict", "--no-dangling");
  },
  60_000,
);

test.skipIf(!canMount)(
  "room that ends at every possible point of a save",
  async () => {
    using recording = await Recording.begin(temporaryRepository());
    using disk = smallDisk(recording.repository);
    const { repository } = recording;
    await recording.prompt("first");
    harmless(await recording.hook("Stop", recording.answer("Done.")));
    for (let pages = 1; pages <= 24; pages++) {
      const saved = new Set(recording.heldSteps());
      repository.write("a.txt", `${pages}\n`);
      disk.fill(pages * 4096);
      harmless(await recording.hook("UserPromptSubmit", { prompt: `turn ${pages}` }));
      harmless(await recording.hook("Stop", { last_assistant_message: "" }));
      disk.empty();
      const now = new Set(recording.heldSteps());
      expect([...saved].filter((id) => !now.has(id))).toEqual([]);
      expect(repository.git("status", "--porcelain")).toBe("?? a.txt");
    }
    await recording.prompt("last");
    repository.write("b.txt", "last\n");
    harmless(await recording.hook("Stop", recording.answer("Done at last.")));
    const steps = await recording.steps();
    const last = steps.find((step) => step.kind === "turn-end" && step.prompt === "last");
    expect(last).toMatchObject({ files: { added: ["b.txt"] } });
    expect(recording.heldSteps().sort()).toEqual(steps.map((step) => step.id).sort());
    expect(recording.leftovers()).toEqual([]);
    repository.git("fsck", "--full", "--strict", "--no-dangling");
  },
  120_000,
);
