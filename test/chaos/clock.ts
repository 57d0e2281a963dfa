/** A clock that is wrong: a library that shifts what a process is told of the time, where there is a compiler for it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const CLOCK_SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) { const char *by = getenv("CHAOS_CLOCK"); return by ? atol(by) : 0; }
int clock_gettime(clockid_t id, struct timespec *t) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, t);
  if (result == 0 && id == CLOCK_REALTIME) t->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *t, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(t, zone);
  if (result == 0) t->tv_sec += shift();
  return result;
}
time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
`;

let library: string | null | undefined;

/** The environment of a process whose clock is off by so many seconds; none where no such library can be made. */
export function clockEnvironment(seconds: number): Record<string, string> {
  library ??= compile();
  return library ? { LD_PRELOAD: library, CHAOS_CLOCK: String(seconds) } : {};
}

function compile(): string | null {
  if (process.platform !== "linux") return null;
  const directory = mkdtempSync(join(tmpdir(), "backtrail-chaos-clock-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  const [source, target] = [join(directory, "clock.c"), join(directory, "clock.so")];
  writeFileSync(source, CLOCK_SOURCE);
  const ended = spawnSync("cc", ["-shared", "-fPIC", "-o", target, source, "-ldl"]);
  return ended.status === 0 && existsSync(target) ? target : null;
}
