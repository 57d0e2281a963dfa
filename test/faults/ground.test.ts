/** The ground gives way: no room, no right to write, errors of the disk, a clock that jumps. Commands say so in words, and nothing is lost. */
import { expect, test } from "bun:test";
import { executable, type Result, runProgram } from "../support/index.ts";
import { harmless, Recording } from "../support/recording.ts";
import { World } from "./killed-world.ts";
import { mayMount, smallDisk } from "./small-disk.ts";

const canMount = mayMount();
if (!canMount) console.log("SKIPPED: commands on a full or read-only disk: a file system can't be mounted here");
const STRACE = Bun.which("strace");
if (!STRACE) console.log("SKIPPED: errors of the disk (EIO): strace is not here");

const OFF = { BACKTRAIL_WORKER: "off" };
const COMMANDS = (world: World): string[][] => [
  ["save", "by hand"],
  ["rewind", world.target, "--yes"],
  ["redo", "--yes"],
  ["clean", "--yes"],
  ["doctor", "--fix"],
  ["worker", world.repository.path],
  ["forget", "no such thing", "--yes"],
  ["status"],
  ["log"],
];

/** It did it, or said why not; it never stumbled. */
function inWords({ code, signal, stderr }: Result, command: string): void {
  expect([command, signal]).toEqual([command, null]);
  expect([0, 1, 2, 3, 4]).toContain(code ?? -1);
  expect(stderr).not.toMatch(/a fault in Backtrail|^\s+at /m);
}

/** Afterwards everything holds, and the work tree is what it was before or what was wanted. */
async function sound(world: World): Promise<void> {
  const { repository } = world;
  const report = await repository.run(["doctor", "--fix", "--json"]);
  const { ok, findings } = JSON.parse(report.stdout) as { ok: boolean; findings: { level: string; message: string }[] };
  expect([ok, findings.filter(({ level }) => level === "problem")]).toEqual([true, []]);
  expect([JSON.stringify(world.past), JSON.stringify(world.present)]).toContain(JSON.stringify(world.files()));
  repository.git("fsck", "--strict", "--no-dangling");
  expect((await repository.run(["rewind", world.target, "--yes"])).code).toBeOneOf([0, 3]);
  expect(world.files()).toEqual(world.past);
}

test.skipIf(!canMount)("no room, for every command", async () => {
  using world = await World.make(OFF);
  using disk = smallDisk(world.repository);
  for (const left of [0, 20_000]) {
    disk.fill(left);
    for (const args of COMMANDS(world)) inWords(await world.repository.run(args), args.join(" "));
    disk.empty();
    const files = JSON.stringify(world.files());
    expect([JSON.stringify(world.past), JSON.stringify(world.present)]).toContain(files);
  }
  await sound(world);
});

test.skipIf(!canMount)("a disk that has become read-only", async () => {
  using world = await World.make(OFF);
  using disk = smallDisk(world.repository);
  disk.writable(false);
  const before = world.files();
  for (const args of COMMANDS(world)) inWords(await world.repository.run(args), args.join(" "));
  const payload = { session_id: world.agent.session, cwd: world.repository.path, hook_event_name: "Stop" };
  harmless(await world.repository.hook("claude-code", "stop", payload));
  expect(world.files()).toEqual(before);
  disk.writable(true);
  await sound(world);
});

const CALLS = ["fsync", "rename", "link", "unlink", "mkdir", "pwrite64", "ftruncate"];

test.skipIf(!STRACE)("an error of the disk at any call of a hook", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("first");
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  for (const call of CALLS) {
    for (const when of ["1", "2+"]) {
      const saved = recording.heldSteps();
      await recording.prompt(`${call} ${when}`);
      repository.write("a.txt", `${call} ${when}\n`);
      const input = JSON.stringify(recording.payload("Stop", recording.answer("Done.")));
      const args = [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        `trace=${call}`,
        "-e",
        `inject=${call}:error=EIO:when=${when}`,
      ];
      const options = { cwd: repository.path, env: repository.environment(recording.variables()), input };
      const result = await runProgram(STRACE ?? "", [...args, executable(), "hooks", "claude-code", "stop"], options);
      expect([call, when, result.code, result.stderr]).toEqual([call, when, 0, ""]);
      expect(recording.heldSteps()).toEqual(expect.arrayContaining(saved));
    }
  }
  await recording.prompt("last");
  repository.write("b.txt", "last\n");
  harmless(await recording.hook("Stop", recording.answer("Done at last.")));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "last" });
  const report = await repository.run(["doctor", "--fix", "--json"], { env: OFF });
  expect(JSON.parse(report.stdout)).toMatchObject({ ok: true });
  repository.git("fsck", "--strict", "--no-dangling");
});

test("a clock that jumps back and ahead: the order is that of the turns", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const times = ["2026-06-01T10:00:00Z", "2019-01-01T00:00:00Z", "2038-01-19T03:14:08Z", "2026-06-01T10:05:00Z"];
  for (const [i, time] of times.entries()) {
    const env = { BACKTRAIL_CLOCK: time };
    harmless(await recording.hook("UserPromptSubmit", { prompt: `turn ${i}` }, { env }));
    repository.write("a.txt", `${i}\n`);
    harmless(await recording.hook("Stop", recording.answer("Done."), { env }));
  }
  const env = { ...OFF, BACKTRAIL_CLOCK: "2026-06-01T10:06:00Z" };
  const { steps } = await repository.json<{ steps: { prompt: string; kind: string }[] }>(["log"], { env });
  expect(steps.filter(({ kind }) => kind === "turn-end").map(({ prompt }) => prompt)).toEqual(
    times.map((_, i) => `turn ${times.length - 1 - i}`),
  );
  await repository.json(["rewind", "2", "--yes", "--code-only"], { env });
  expect(repository.read("a.txt")).toBe("1\n");
  const report = await repository.run(["doctor", "--json"], { env });
  const { ok, findings } = JSON.parse(report.stdout) as { ok: boolean; findings: { check: string; level: string }[] };
  expect(ok).toBe(true);
  expect(findings.filter(({ level }) => level === "warning").map(({ check }) => check)).toEqual([
    "clock",
    // The clock of the hooks was behind the moment of `enable`: they don't count as heard since.
    "hooks",
  ]);
});
