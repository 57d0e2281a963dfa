/** What is written so that no time tells of it is in the safety step all the same, and `redo` brings it back. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

async function enabled(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  return repository;
}

/** Times of files this old are trusted. */
function settle(...files: string[]): void {
  const past = Date.now() / 1000 - 100;
  for (const file of files) utimesSync(file, past, past);
}

/** A file, written through memory and saved, whose next write through memory changes none of its times. */
async function mappedFile(repository: TemporaryRepository): Promise<{ file: string; memory: Uint8Array }> {
  await repository.run(["save", "before"]);
  const file = repository.write("data.bin", new Uint8Array(4096));
  const memory = Bun.mmap(file, { shared: true });
  memory.set(Buffer.from("WRITE-01"));
  // Until then its times are too young to be trusted.
  await Bun.sleep(2_100);
  await repository.run(["save", "first"]);
  return { file, memory };
}

test("a write through memory, to a page that is still dirty", async () => {
  using repository = await enabled();
  const { file, memory } = await mappedFile(repository);
  const times = statSync(file, { bigint: true });
  memory.set(Buffer.from("WRITE-02"));
  await repository.run(["save", "second"]);
  expect(statSync(file, { bigint: true }).ctimeNs).toBe(times.ctimeNs);
  expect((await repository.run(["rewind", "before", "--yes"])).code).toBe(0);
  expect(repository.exists("data.bin")).toBe(false);
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("data.bin").slice(0, 8)).toBe("WRITE-02");
}, 60_000);

test("a safety step with such a write leaves nothing behind that git's garbage collection takes away", async () => {
  using repository = await enabled();
  const { memory } = await mappedFile(repository);
  memory.set(Buffer.from("WRITE-02"));
  repository.write("other.txt", "other\n");
  const killed = await repository.run(["rewind", "before", "--yes"], { env: { BACKTRAIL_FAULT: "restore:safety" } });
  expect(killed.signal).toBe("SIGKILL");
  repository.git("gc", "--quiet", "--prune=now");
  expect(await repository.run(["save", "after"])).toMatchObject({ code: 0 });
  expect(await repository.run(["rewind", "before", "--yes"])).toMatchObject({ code: 0 });
  expect(await repository.run(["redo", "--yes"])).toMatchObject({ code: 0 });
  expect(repository.read("data.bin").slice(0, 8)).toBe("WRITE-02");
}, 60_000);

test("a file monitor that misses a change", async () => {
  using repository = await enabled();
  repository.write("f.txt", "v1\n");
  repository.commit("one");
  await repository.run(["save", "before"]);
  repository.write("f.txt", "v2\n");
  repository.commit("two");
  const monitor = repository.write(".git/monitor", "#!/bin/sh\nprintf 'token\\0'\n");
  chmodSync(monitor, 0o755);
  repository.git("config", "core.fsmonitor", monitor);
  settle(repository.at("f.txt"));
  for (let i = 0; i < 2; i++) repository.git("status");
  repository.write("f.txt", "local work\n");
  expect(repository.git("status", "--porcelain")).toBe("");
  expect((await repository.run(["rewind", "before", "--yes"])).code).toBe(0);
  expect(repository.read("f.txt")).toBe("v1\n");
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("f.txt")).toBe("local work\n");
});

test("a tool that preserves times, with core.checkStat=minimal", async () => {
  using repository = await enabled();
  repository.git("config", "core.checkStat", "minimal");
  repository.git("config", "core.trustctime", "false");
  repository.write("f.txt", "aaaaaaaaaa\n");
  repository.commit("one");
  await repository.run(["save", "before"]);
  repository.write("f.txt", "bbbbbbbbbb\n");
  settle(repository.at("f.txt"));
  repository.commit("two");
  const { atime, mtime } = statSync(repository.at("f.txt"));
  repository.write("f.txt", "local work\n");
  utimesSync(repository.at("f.txt"), atime, mtime);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect((await repository.run(["rewind", "before", "--yes"])).code).toBe(0);
  expect(repository.read("f.txt")).toBe("aaaaaaaaaa\n");
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("f.txt")).toBe("local work\n");
});

const COMPILER = Bun.which("cc");
if (!COMPILER) console.log("SKIPPED: a clock ahead of the file server's: there is no C compiler here");

/** As with a file server: this machine's clock is ahead of the one that files get their times from. */
const SHIFTED_CLOCK = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static time_t shift(void) { const char *s = getenv("CLOCK_SHIFT"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t clock, struct timespec *t) {
  int (*next)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, t);
  if (result == 0 && clock == CLOCK_REALTIME) t->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *t, void *zone) {
  int (*next)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int result = next(t, zone);
  if (result == 0) t->tv_sec += shift();
  return result;
}
`;

test.skipIf(!COMPILER || process.platform !== "linux")("a clock that is ahead of the file server's", async () => {
  using repository = await enabled();
  const [source, library] = [join(repository.home, "shift.c"), join(repository.home, "shift.so")];
  writeFileSync(source, SHIFTED_CLOCK);
  const options = { cwd: repository.path, env: repository.environment() };
  await runProgram(COMPILER ?? "", ["-shared", "-fPIC", "-o", library, source, "-ldl"], options);
  expect(existsSync(library)).toBe(true);
  repository.write("f.txt", "v1\n");
  repository.commit("one");
  await repository.run(["save", "before"]);
  repository.write("f.txt", "v2\n");
  settle(repository.at("f.txt"));
  // A git that is slow, and an editor that saves meanwhile.
  const slow = join(repository.home, "git");
  const script = `#!/bin/sh\ncase "$*" in *"ls-files -v"*) sleep 0.2; echo "saved meanwhile" >'${repository.at("f.txt")}';; esac\nexec '${Bun.which("git")}' "$@"\n`;
  writeFileSync(slow, script, { mode: 0o755 });
  const path = `${repository.home}:${repository.environment()["PATH"]}`;
  const env = { CLOCK_SHIFT: "10", LD_PRELOAD: library, PATH: path };
  expect((await repository.run(["rewind", "before", "--yes"], { env })).code).toBe(0);
  expect(repository.read("f.txt")).toBe("v1\n");
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("f.txt")).toBe("saved meanwhile\n");
});
