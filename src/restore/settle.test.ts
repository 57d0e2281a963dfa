import { expect, test } from "bun:test";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { started } from "./playground.ts";
import { applyRedo, planRedo } from "./redo.ts";
import { applyRewind, planRewind } from "./rewind.ts";

test("a file whose line endings git does not keep is not thrown away", async () => {
  using ground = await started();
  const step = await ground.save();
  ground.git("config", "core.autocrlf", "input");
  ground.write("mixed.txt", "one\r\ntwo\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  const { receipt } = await ground.rewind(step);
  expect(existsSync(join(ground.root, "mixed.txt"))).toBe(false);
  const place = /kept in (\S+)\.$/m.exec(receipt.notes.join("\n"))?.[1];
  const kept = place ? readFileSync(join(place, "mixed.txt"), "latin1") : undefined;
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  const back = readFileSync(join(ground.root, "mixed.txt"), "latin1");
  expect([kept, back]).toContain("one\r\ntwo\n");
});

test("a filter that has begun to fail does not leave a restore half done: what can't be compared is kept", async () => {
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
  const { notes } = await applyRewind(ground.workspace, await planRewind(ground.workspace, { kind: "step", step }, {}));
  expect(existsSync(join(ground.root, "b.bin"))).toBe(false);
  const kept = /kept in (.*)\.$/.exec(notes.find((note) => note.includes("b.bin")) ?? "")?.[1] ?? "";
  expect(readFileSync(join(kept, "b.bin"), "utf8")).toBe("large\n");
});
