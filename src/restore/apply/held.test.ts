/** The safety step holds what the files contain when they are touched, whatever git and caches take them for. */
import { expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Playground, started } from "../../../test/support/restore-sandbox.ts";
import { loadConfig } from "../../config/load.ts";
import { startCapture } from "../../git/snapshot/snapshot.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import { applyRedo, planRedo } from "../redo.ts";
import { applyRewind, planRestore, planRewind } from "../rewind.ts";
import { contentId } from "./content.ts";
import { holdFiles, recordedFiles } from "./held.ts";

async function redo(ground: Playground): Promise<void> {
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
}

/** Changes a file so that neither its size nor its times tell. */
function writeUnseen(file: string, content: string): void {
  const { atime, mtime, size } = statSync(file);
  expect(Buffer.byteLength(content)).toBe(size);
  writeFileSync(file, content);
  utimesSync(file, atime, mtime);
}

test("a file that git takes for unchanged comes back byte for byte", async () => {
  using ground = await Playground.make({ config: { "core.trustctime": "false", "core.checkStat": "minimal" } });
  ground.write("a.txt", "one\n");
  const step = await ground.save();
  ground.write("a.txt", "two\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  const past = Date.now() / 1000 - 100;
  utimesSync(join(ground.root, "a.txt"), past, past);
  ground.git("update-index", "--refresh");
  writeUnseen(join(ground.root, "a.txt"), "new\n");
  expect(ground.git("status", "--porcelain")).toBe("");
  const { receipt } = await ground.rewind(step);
  expect(receipt.kept).toEqual([]);
  expect(ground.read("a.txt")).toBe("one\n");
  await redo(ground);
  expect(ground.read("a.txt")).toBe("new\n");
});

test("an undo merges with what the file really contains", async () => {
  using ground = await started();
  const file = join(ground.root, "a.txt");
  const lines = (first: string, last: string) => `${first}\n${"between\n".repeat(8)}${last}\n`;
  ground.write("a.txt", lines("first", "last"));
  const before = await ground.save();
  ground.write("a.txt", lines("FIRST", "last"));
  const after = await ground.save();
  // As a write through memory leaves it: the cache and its times know nothing.
  const old = Date.now() / 1000 - 100;
  utimesSync(file, old, old);
  await ground.save();
  ground.git("config", "core.trustctime", "false");
  ground.git("config", "core.checkStat", "minimal");
  ground.git("add", "a.txt");
  writeUnseen(file, lines("FIRST", "LAST"));
  const state = ({ snapshot: { work, raw } }: typeof before) => ({ work, raw });
  const change = { before: state(before), after: state(after), paths: ["a.txt"], name: "turn" };
  const plan = await planRestore(ground.workspace, {
    kind: "undo",
    target: { kind: "turns", turns: [] },
    options: { codeOnly: true },
    takesBack: null,
    merge: { changes: [change], shared: [], markers: false, later: null },
    chat: null,
  });
  await applyRewind(ground.workspace, plan);
  expect(readFileSync(file, "utf8")).toBe(lines("first", "LAST"));
});

test("a file whose line endings git converts is restored byte for byte", async () => {
  using ground = await started();
  const step = await ground.save();
  ground.git("config", "core.autocrlf", "input");
  ground.write("mixed.txt", "one\r\ntwo\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  const { receipt } = await ground.rewind(step);
  expect(receipt.kept).toEqual([]);
  expect(ground.exists("mixed.txt")).toBe(false);
  await redo(ground);
  expect(readFileSync(join(ground.root, "mixed.txt"), "latin1")).toBe("one\r\ntwo\n");
});

test("a filter that has begun to fail does not stop a restore: the file comes back byte for byte", async () => {
  using ground = await started();
  const broken = join(ground.place, "broken");
  const program = join(ground.place, "filter.sh");
  writeFileSync(program, `#!/bin/sh\n[ -e '${broken}' ] && exit 1\nexec sed "$1"\n`, { mode: 0o755 });
  ground.git("config", "filter.lfs.clean", `${program} s/large/pointer/`);
  ground.git("config", "filter.lfs.smudge", `${program} s/pointer/large/`);
  ground.git("config", "filter.lfs.required", "true");
  ground.write(".gitattributes", "*.bin filter=lfs\n");
  const step = await ground.save();
  ground.write("b.bin", "large\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "filtered");
  const future = Date.now() / 1000 + 5;
  utimesSync(join(ground.root, ".git/index"), future, future);
  writeFileSync(broken, "");
  const { kept } = await applyRewind(ground.workspace, await planRewind(ground.workspace, { kind: "step", step }, {}));
  expect([ground.exists("b.bin"), kept]).toEqual([false, []]);
  await redo(ground);
  expect(ground.read("b.bin")).toBe("large\n");
});

test("content that a filter stores in another form counts as held", async () => {
  using ground = await started({ config: { "filter.up.clean": "tr a-z A-Z", "filter.up.smudge": "tr A-Z a-z" } });
  ground.write(".gitattributes", "*.low filter=up\n");
  const step = await ground.save();
  ground.write("b.low", "quiet\n");
  const { receipt } = await ground.rewind(step);
  expect(receipt.kept).toEqual([]);
  await redo(ground);
  expect(ground.read("b.low")).toBe("quiet\n");
});

test("large files go from the disk to the safety step, not through memory", async () => {
  using ground = await Playground.make({ config: { "core.trustctime": "false", "core.checkStat": "minimal" } });
  ground.git("config", "filter.up.clean", "tr a-z A-Z");
  ground.git("config", "filter.up.smudge", "tr A-Z a-z");
  ground.write("up/.gitattributes", "*.low filter=up\n");
  const names = ["plain.txt", "up/same.low", "up/other.low"];
  for (const name of names) ground.write(name, "large\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "large");
  const past = Date.now() / 1000 - 100;
  for (const name of names) utimesSync(join(ground.root, name), past, past);
  ground.git("update-index", "--refresh");
  const { workspace } = ground;
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    const snapshot = await capture.finish();
    writeUnseen(join(ground.root, "plain.txt"), "other\n");
    writeUnseen(join(ground.root, "up/other.low"), "OTHER\n");
    const recorded = await recordedFiles(capture, snapshot, names);
    const { present, held } = await holdFiles(workspace, capture, snapshot, recorded, 1);
    capture.writer.flush();
    const at = (tree: string | null, path: string) => ground.git("cat-file", "blob", `${tree}:${path}`);
    expect(at(present.work, "plain.txt")).toBe("other");
    expect(at(present.work, "up/same.low")).toBe("LARGE");
    expect(at(present.raw, "up/other.low")).toBe("OTHER");
    expect(Object.keys(held).sort()).toEqual([...names].sort());
    for (const name of names) expect(held[name]).toBe(contentId(join(ground.root, name), "sha1") ?? "");
  } finally {
    capture.close();
  }
});

test("a file that was written to after the snapshot read it is read again", async () => {
  using ground = await started();
  for (const name of ["left.txt", "written.txt"]) ground.write(name, "one\n");
  const { workspace } = ground;
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    const snapshot = await capture.finish();
    const id = contentId(join(ground.root, "left.txt"), "sha1");
    expect(["left.txt", "written.txt"].map((name) => capture.seen(name)?.readId ?? "")).toEqual([id ?? "", id ?? ""]);
    writeUnseen(join(ground.root, "written.txt"), "two\n");
    const recorded = await recordedFiles(capture, snapshot, ["left.txt", "written.txt"]);
    const { present, held } = await holdFiles(workspace, capture, snapshot, recorded);
    capture.writer.flush();
    expect(ground.git("cat-file", "blob", `${present.work}:written.txt`)).toBe("two");
    for (const name of ["left.txt", "written.txt"])
      expect(held[name]).toBe(contentId(join(ground.root, name), "sha1") ?? "");
  } finally {
    capture.close();
  }
});
