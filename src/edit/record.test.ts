import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { writtenDocuments } from "../../test/edit/jsonc-documents.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/directory.ts";
import { acquire } from "../base/fs/lock.ts";
import { hooksEdit } from "./edit.ts";
import { claudeLayout } from "./hook-layouts.ts";
import { jsonc } from "./jsonc.ts";
import { type EditOwner, inspectEdit, installEdit, lockPath, previewEdit, recordsIn, uninstallEdit } from "./record.ts";

const saved = process.env["BACKTRAIL_HOME"];
let place: TemporaryDirectory;
let base: string;
let file: string;
let keeping: EditOwner;

beforeEach(() => {
  place = temporaryDirectory();
  base = place.path;
  process.env["BACKTRAIL_HOME"] = join(base, "backtrail");
  file = join(base, "settings.json");
  keeping = { records: join(base, "records"), owner: "pi", holder: base };
});

afterEach(() => {
  if (saved === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = saved;
  place.remove();
});

const edit = hooksFrom("/one/");
const content = () => readFileSync(file, "utf8");

function hooksFrom(place: string) {
  const entries = [
    { event: "Stop", command: `${place}ours` },
    { event: "PreToolUse", command: `${place}ours`, matcher: "Bash" },
  ];
  return hooksEdit(jsonc, { layout: claudeLayout, entries, isOurs: (command) => command.endsWith("/ours") });
}

test("in and out again is byte for byte nothing, through updates and repetitions", async () => {
  await fc.assert(
    fc.asyncProperty(
      writtenDocuments,
      fc.array(fc.constantFrom("/one/", "/two/"), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(0o600, 0o644, 0o666),
      async ({ text }, places, mode) => {
        writeFileSync(file, text);
        chmodSync(file, mode);
        for (const place of places) {
          await installEdit(file, hooksFrom(place), keeping);
          expect(inspectEdit(file, hooksFrom(place))).toBe("installed");
        }
        expect(content()).not.toBe(text);
        await uninstallEdit(file, edit, keeping);
        expect(content()).toBe(text);
        expect(statSync(file).mode & 0o777).toBe(mode);
        expect(existsSync(keeping.records)).toBe(false);
      },
    ),
    { numRuns: 60 },
  );
});

test("after another tool's change, only our entries are updated and removed", async () => {
  writeFileSync(file, '{"a":1}');
  await installEdit(file, edit, keeping);
  writeFileSync(file, content().replace('"a":1', '"a":2'));
  expect((await installEdit(file, edit, keeping)).action).toBe("unchanged");
  expect((await installEdit(file, hooksFrom("/two/"), keeping)).action).toBe("updated");
  expect(content()).not.toContain("/one/");
  expect((await uninstallEdit(file, edit, keeping)).action).toBe("restored");
  expect(JSON.parse(content())).toEqual({ a: 2 });
});

test("a change to the same length and back keeps nothing stale", async () => {
  writeFileSync(file, '{\n  "a": 1\n}\n');
  await installEdit(file, edit, keeping);
  writeFileSync(file, '{\n  "b": 2\n}\n');
  expect((await uninstallEdit(file, edit, keeping)).action).toBe("unchanged");
  expect(content()).toBe('{\n  "b": 2\n}\n');
});

test("a file that is gone stays gone", async () => {
  file = join(base, "a", "b", "settings.json");
  await installEdit(file, edit, keeping);
  rmSync(file);
  expect((await uninstallEdit(file, edit, keeping)).action).toBe("unchanged");
  expect(place.exists("a")).toBe(false);
});

test("a directory that we made stays while it has other files", async () => {
  file = join(base, "a", "settings.json");
  await installEdit(file, edit, keeping);
  place.write("a/theirs", "");
  expect((await uninstallEdit(file, edit, keeping)).action).toBe("removed");
  expect(place.names("a")).toEqual(["theirs"]);
});

test("an update forgets neither the directories made nor who holds the entries", async () => {
  file = join(base, "a", "settings.json");
  const second = { ...keeping, holder: join(base, "a") };
  await installEdit(file, edit, keeping);
  await installEdit(file, edit, second);
  await installEdit(file, hooksFrom("/two/"), keeping);
  expect((await uninstallEdit(file, edit, keeping)).action).toBe("kept");
  expect((await uninstallEdit(file, edit, second)).action).toBe("removed");
  expect(place.exists("a")).toBe(false);
});

test("a change at the last moment is not overwritten", async () => {
  writeFileSync(file, "{}");
  const late = {
    ...edit,
    add(bytes: Buffer | null) {
      writeFileSync(file, '{"late":1}');
      return edit.add(bytes);
    },
  };
  await expect(installEdit(file, late, keeping)).rejects.toThrow("changed while");
  expect(content()).toBe('{"late":1}');
});

test("a file that was made read-only is neither promised nor changed", async () => {
  writeFileSync(file, "{}");
  await installEdit(file, edit, keeping);
  chmodSync(file, 0o444);
  const protectedContent = content();
  expect(() => previewEdit(file, hooksFrom("/two/"))).toThrow("read-only");
  await expect(installEdit(file, hooksFrom("/two/"), keeping)).rejects.toThrow("read-only");
  await expect(uninstallEdit(file, edit, keeping)).rejects.toThrow("read-only");
  expect(content()).toBe(protectedContent);
  chmodSync(file, 0o644);
  await uninstallEdit(file, edit, keeping);
  expect(content()).toBe("{}");
});

test("a file that another process is editing is waited for, not for ever", async () => {
  const lock = await acquire(lockPath(file), 0);
  await expect(installEdit(file, edit, { ...keeping, waitMs: 10 })).rejects.toThrow("right now");
  lock?.release();
  expect((await installEdit(file, edit, { ...keeping, waitMs: 10 })).action).toBe("created");
});

test("without its record, or with a damaged one, our entries still come out", async () => {
  const contents = [
    '{"v":1,"before":',
    "[]",
    '{"v":2}',
    JSON.stringify({ v: 1, owner: "pi", file, before: 7, after: [] }),
  ];
  const damages = [
    () => rmSync(keeping.records, { recursive: true }),
    ...contents.map((broken) => () => damage(broken)),
  ];
  for (const strike of damages) {
    writeFileSync(file, '{\n  "a": 1\n}');
    await installEdit(file, edit, keeping);
    strike();
    expect((await uninstallEdit(file, edit, keeping)).action).toBe("edited");
    expect(content()).toBe('{\n  "a": 1\n}');
  }
});

function damage(broken: string): void {
  for (const name of readdirSync(keeping.records)) writeFileSync(join(keeping.records, name), broken);
}

test("two owners in one file don't disturb each other", async () => {
  const other = { ...keeping, owner: "gemini" };
  const theirs = hooksEdit(jsonc, {
    layout: claudeLayout,
    entries: [{ event: "Stop", command: "theirs" }],
    isOurs: (command) => command === "theirs",
  });
  const before = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n';
  writeFileSync(file, before);
  await installEdit(file, edit, keeping);
  await installEdit(file, theirs, other);
  expect(
    recordsIn(keeping.records)
      .map((record) => record.owner)
      .sort(),
  ).toEqual(["gemini", "pi"]);
  await uninstallEdit(file, edit, keeping);
  expect(inspectEdit(file, theirs)).toBe("installed");
  await uninstallEdit(file, theirs, other);
  expect(content()).toBe(before);
});

test("a dry run changes nothing and predicts the result", async () => {
  expect(previewEdit(file, edit).action).toBe("created");
  expect(existsSync(file)).toBe(false);
  expect((await installEdit(file, edit, keeping)).action).toBe("created");
  expect(previewEdit(file, edit).action).toBe("unchanged");
  expect(previewEdit(file, hooksFrom("/two/")).action).toBe("updated");
});

describe("other processes", () => {
  /** One `installEdit` in a process of its own. */
  function start(fault?: string, place = "/one/") {
    const script = `
      const { installEdit } = await import(${JSON.stringify(join(import.meta.dir, "record.ts"))});
      const { hooksEdit } = await import(${JSON.stringify(join(import.meta.dir, "edit.ts"))});
      const { jsonc } = await import(${JSON.stringify(join(import.meta.dir, "jsonc.ts"))});
      const { claudeLayout } = await import(${JSON.stringify(join(import.meta.dir, "hook-layouts.ts"))});
      const entries = [{ event: "Stop", command: "${place}ours" }];
      const edit = hooksEdit(jsonc, { layout: claudeLayout, entries, isOurs: (command) => command.endsWith("/ours") });
      await installEdit(${JSON.stringify(file)}, edit, ${JSON.stringify(keeping)});`;
    const env = { ...process.env, ...(fault ? { BACKTRAIL_FAULT: fault } : {}) };
    return Bun.spawn([process.execPath, "-e", script], { env, stdout: "ignore", stderr: "pipe" });
  }

  test.each(["edit:recorded", "edit:written"])("killed at %s, nothing is lost", async (fault) => {
    const before = '{"a": 1, /* mine */}';
    writeFileSync(file, before);
    const child = start(fault);
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await uninstallEdit(file, edit, keeping);
    expect(content()).toBe(before);
    await installEdit(file, edit, keeping);
    await start(fault, "/two/").exited;
    await uninstallEdit(file, edit, keeping);
    expect(content()).toBe(before);
    await start(fault).exited;
    await installEdit(file, edit, keeping);
    expect(inspectEdit(file, edit)).toBe("installed");
    await uninstallEdit(file, edit, keeping);
    expect(content()).toBe(before);
    expect(place.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("at the same moment put it in once", async () => {
    mkdirSync(keeping.records);
    writeFileSync(file, "{}");
    const children = [start(), start(), start()];
    expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
    expect(JSON.parse(content()).hooks.Stop).toHaveLength(1);
    await uninstallEdit(file, edit, keeping);
    expect(content()).toBe("{}");
  });
});
