/** A search whose index can't be written, is locked, or goes away: it finds what there is, or says what to do. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { mayMount } from "./small-disk.ts";

const env = { BACKTRAIL_WORKER: "off" };
const CANT_WRITE = "The search index can't be written, so turns may be missing. Is the disk full or read-only?";

/** A conversation of about so many kilobytes, of words that no other one has. */
function said(repository: TemporaryRepository, number: number, kilobytes: number, text: string): void {
  const session = `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`;
  const folder = join(repository.home, ".claude/projects/-elsewhere");
  mkdirSync(folder, { recursive: true });
  const words = Array.from({ length: kilobytes * 40 }, (_, at) => Bun.hash(`${number} ${at}`).toString(36)).join(" ");
  const line = (uuid: string, content: string) =>
    JSON.stringify({
      ...{ type: "user", uuid, parentUuid: null, sessionId: session, isSidechain: false, cwd: "/elsewhere" },
      ...{ timestamp: "2026-01-02T03:04:05.000Z", message: { role: "user", content } },
    });
  writeFileSync(join(folder, `${session}.jsonl`), `${line("a", text)}\n${line("b", words)}\n`);
}

async function total(repository: TemporaryRepository, word: string): Promise<number> {
  for (let times = 0; ; times++) {
    const { code, stdout } = await repository.run(["search", "--json", word], { env });
    const found = JSON.parse(stdout) as { total: number; pending: number };
    expect(code).toBe(0);
    if (found.pending === 0 || times === 20) return found.total;
  }
}

test.skipIf(!mayMount())(
  "a full disk hides nothing that was indexed, and the rest is found once there is room",
  async () => {
    using repository = temporaryRepository();
    const place = join(repository.home, "backtrail");
    mkdirSync(place, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", place]);
    try {
      said(repository, 1, 1, "Where is the axolotl?");
      expect(await total(repository, "axolotl")).toBe(1);
      for (let number = 2; number < 40; number++) said(repository, number, 400, "And the quokka?");
      const filler = join(place, "filler");
      expect(() => appendFileSync(filler, Buffer.alloc(4 << 20))).toThrow("ENOSPC");
      const full = await repository.run(["search", "axolotl"], { env });
      expect(full).toMatchObject({ code: 0, stderr: `${CANT_WRITE}\n` });
      expect(full.stdout).toContain("Where is the axolotl?");
      rmSync(filler);
      const rebuilt = await repository.run(["search", "--rebuild"], { env });
      expect(rebuilt.code).toBe(1);
      expect(rebuilt.stderr).toContain(CANT_WRITE);
      execFileSync("mount", ["-o", "remount,size=100m", place]);
      expect((await repository.run(["search", "--rebuild"], { env })).code).toBe(0);
      expect([await total(repository, "quokka"), await total(repository, "axolotl")]).toEqual([38, 1]);
    } finally {
      execFileSync("umount", ["-l", place]);
    }
  },
  60_000,
);

test("an index that another process is writing is searched as it was", async () => {
  using repository = temporaryRepository();
  said(repository, 1, 1, "Where is the axolotl?");
  expect(await total(repository, "axolotl")).toBe(1);
  using other = new Database(join(repository.home, "backtrail/state/search/index.db"));
  other.run("begin immediate");
  said(repository, 2, 1, "And the quokka?");
  const { code, stdout } = await repository.run(["search", "--json", "axolotl"], { env });
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, total: 1, pending: 1 });
  other.run("rollback");
  expect(await total(repository, "quokka")).toBe(1);
});

test("an index that is deleted while it is in use is made again", async () => {
  using repository = temporaryRepository();
  for (let number = 1; number < 40; number++) said(repository, number, 40, "Where is the axolotl?");
  const folder = join(repository.home, "backtrail/state/search");
  const running = Array.from({ length: 4 }, () => repository.run(["search", "--rebuild"], { env }));
  for (let times = 0; times < 10; times++) {
    await Bun.sleep(30);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `index.db${suffix}`), { force: true });
  }
  for (const { code, signal } of await Promise.all(running)) expect([code === null, signal]).toEqual([false, null]);
  expect(await total(repository, "axolotl")).toBe(39);
}, 60_000);

test("searches, rebuilds and the worker at once: none fails, and everything is found", async () => {
  using repository = temporaryRepository();
  for (let number = 1; number < 20; number++) said(repository, number, 40, "Where is the axolotl?");
  const words = [["--rebuild"], ["axolotl"], ["--rebuild"], ["axolotl", "--json"], ["quokka", "--json"], ["axolotl"]];
  for (let times = 0; times < 3; times++) {
    const worker = repository.run(["worker", "--index"], { env });
    const all = await Promise.all([worker, ...words.map((args) => repository.run(["search", ...args], { env }))]);
    // Until something is indexed, nothing is found.
    for (const { code, stderr } of all)
      expect({ isDone: code === 0 || code === 3, stderr }).toEqual({ isDone: true, stderr });
  }
  expect(await total(repository, "axolotl")).toBe(19);
}, 120_000);
