/** How much a hook starts: in the steady state one git, whatever the repository holds. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";

ownHome();

test("a turn's hooks start one git each, `status`, once everything is known", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 20; i++) repository.write(`dir${i % 4}/f${i}`, `${i}`);
  repository.commit("second");
  repository.git("gc", "--quiet");
  const workspace = await enabledWorkspace(repository.path);
  const log = join(repository.home, "started");
  const real = Bun.which("git") ?? "git";
  const wrapper = join(repository.home, "git");
  writeFileSync(wrapper, `#!/bin/sh\necho "$@" >> ${log}\nexec ${real} "$@"\n`);
  chmodSync(wrapper, 0o755);
  const script = repository.write(
    ".git/turn.ts",
    `import { writeFileSync } from "node:fs";
import { ScriptedSession } from ${JSON.stringify(join(import.meta.dirname, "../../test/support/dispatching.ts"))};
const session = new ScriptedSession(${JSON.stringify({ home: repository.home, path: repository.path })}, ${JSON.stringify(workspace)});
Object.defineProperty(session, "id", { value: "one" });
if (process.argv[2] === "begin") await session.begin("prompt " + process.argv[3]);
else {
  writeFileSync(${JSON.stringify(repository.at("dir1/f1"))}, process.argv[3] + " changed");
  await session.end();
}`,
  );
  const started: string[][] = [];
  for (const turn of ["1", "2", "3"]) {
    for (const what of ["begin", "end"]) {
      writeFileSync(log, "");
      const env = repository.environment({ PATH: `${dirname(wrapper)}:${process.env["PATH"]}` });
      const child = Bun.spawn([process.execPath, script, what, turn], { cwd: repository.path, env, stderr: "inherit" });
      expect(await child.exited).toBe(0);
      started.push(readFileSync(log, "utf8").trim().split("\n"));
    }
  }
  for (const commands of started.slice(2)) {
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain(" status ");
  }
});
