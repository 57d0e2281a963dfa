/** No control character and no hidden character reaches the terminal, in text or in JSON; parsed values are unchanged. */
import { expect, test } from "bun:test";
import { ScriptedClaude, temporaryRepository, write } from "../support/index.ts";

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** A C1 control (CSI), DEL, an override, a zero-width space, and a tag character. */
const NASTY = "\u009b31m\u007f\u202e\u200b\u{e0041}";
const FILE = `c${NASTY}.txt`;

test("names, prompts and answers with hidden characters", async () => {
  using repository = temporaryRepository();
  repository.git("checkout", "-q", "-b", "b\u202er");
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn(`evil ${NASTY}`, [write(FILE, "x\n")], `answer ${NASTY}`);
  const commands = [
    ["log"],
    ["log", "--json"],
    ["rewind", "1", "--dry-run"],
    ["rewind", "1", "--dry-run", "--json"],
    ["status", "--json"],
    ["sessions", "--json"],
    ["sessions", "show", claude.session],
    ["sessions", "show", claude.session, "--json"],
    ["export", claude.session, "--format", "md"],
    ["export", claude.session, "--format", "html"],
    ["export", claude.session, "--format", "json"],
  ];
  for (const command of commands) {
    const { code, stdout, stderr } = await repository.run(command);
    expect([command, code]).toEqual([command, 0]);
    expect([command, HIDDEN.exec(stdout + stderr)]).toEqual([command, null]);
  }
  const planned = JSON.parse((await repository.run(["rewind", "1", "--dry-run", "--json"])).stdout);
  expect(JSON.stringify(planned)).toContain(FILE);
  const exported = JSON.parse((await repository.run(["export", claude.session, "--format", "json"])).stdout);
  expect(exported.sessions[0].entries).toContainEqual(expect.objectContaining({ text: `answer ${NASTY}` }));
});
