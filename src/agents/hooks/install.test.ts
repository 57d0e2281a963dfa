import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { agent, profile, Sandbox } from "../../../test/edit/sandbox.ts";
import type { Profile } from "../contract/profile.ts";
import { install, installedRoots, planInstall, uninstall } from "./install.ts";

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

describe("the local scope", () => {
  test("makes the file, shows nothing in git status, and leaves nothing behind", async () => {
    const excludeBefore = box.bytes(box.excludeFile);
    expect(box.state("local")).toBe("absent");
    const report = await install(agent, "local", box.options);
    expect(report).toMatchObject({ agent: "claude-code", scope: "local", notes: [] });
    expect(report.files.map((file) => file.action)).toEqual(["created", "edited"]);
    expect(box.state("local")).toBe("installed");
    expect(box.status()).toBe("");

    await uninstall(agent, "local", box.options);
    expect(existsSync(join(box.root, ".claude"))).toBe(false);
    expect(box.bytes(box.excludeFile)).toEqual(excludeBefore);
    expect(existsSync(join(box.options.workspace.storeDir, "edits"))).toBe(false);
    expect(box.state("local")).toBe("absent");
  });

  test("writes what the agent expects", async () => {
    await install(agent, "local", box.options);
    const executable = join(box.base, "bin", "backtrail");
    const { hooks } = JSON.parse(box.read(box.localFile));
    const command = `[ ! -x "${executable}" ] || "${executable}" hooks claude-code session-end || :`;
    expect(hooks.SessionEnd).toEqual([{ hooks: [{ type: "command", command, timeout: 10 }] }]);
    expect(hooks.PreToolUse[0].matcher).toBe("Bash|Task|Agent");
    expect(Object.keys(hooks)).toEqual(Object.keys(profile.hooks?.install ?? {}));
  });

  test("twice is once", async () => {
    await install(agent, "local", box.options);
    const [settings, exclude] = [box.bytes(box.localFile), box.bytes(box.excludeFile)];
    const again = await install(agent, "local", box.options);
    expect(again.files.map((file) => file.action)).toEqual(["unchanged", "unchanged"]);
    expect([box.bytes(box.localFile), box.bytes(box.excludeFile)]).toEqual([settings, exclude]);
  });

  test("many at once are one", async () => {
    await Promise.all(Array.from({ length: 6 }, () => install(agent, "local", box.options)));
    const { hooks } = JSON.parse(box.read(box.localFile));
    expect(hooks.Stop).toHaveLength(1);
    expect(box.read(box.excludeFile).match(/settings\.local\.json/g)).toHaveLength(1);
    await uninstall(agent, "local", box.options);
    expect(existsSync(join(box.root, ".claude"))).toBe(false);
  });

  test("keeps the user's hooks, comments, line ends and mode, and gives the bytes back", async () => {
    const own =
      '\ufeff{\r\n\t// mine\r\n\t"hooks": {\r\n\t\t"Stop": [{"hooks": [{"type":"command","command":"say"}]}],\r\n\t},\r\n}';
    box.put(box.localFile, own);
    chmodSync(box.localFile, 0o666);
    await install(agent, "local", box.options);
    const text = box.read(box.localFile);
    expect(text).toContain('\ufeff{\r\n\t// mine\r\n\t"hooks": {\r\n');
    expect(text).toContain('{"hooks": [{"type":"command","command":"say"}]},');
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(statSync(box.localFile).mode & 0o777).toBe(0o666);
    await uninstall(agent, "local", box.options);
    expect(box.read(box.localFile)).toBe(own);
    expect(statSync(box.localFile).mode & 0o777).toBe(0o666);
  });

  test("what the user or the agent changed in between stays", async () => {
    box.put(box.localFile, '{\n  "hooks": {\n    "Stop": []\n  }\n}\n');
    await install(agent, "local", box.options);
    const settings = JSON.parse(box.read(box.localFile));
    settings.permissions = { allow: ["Bash(ls)"] };
    settings.hooks.Stop.unshift({ hooks: [{ type: "command", command: "say done" }] });
    box.put(box.localFile, JSON.stringify(settings, null, 2));
    expect(box.state("local")).toBe("installed");
    const report = await uninstall(agent, "local", box.options);
    expect(report.files[0]?.action).toBe("edited");
    expect(JSON.parse(box.read(box.localFile))).toEqual({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "say done" }] }] },
      permissions: { allow: ["Bash(ls)"] },
    });
  });

  test("after the executable has moved the hooks are outdated, and updated in place", async () => {
    const own = '{ "model": "opus" }';
    box.put(box.localFile, own);
    await install(agent, "local", box.options);
    box.options = box.optionsFor(box.root, join(box.base, "elsewhere", "backtrail"));
    expect(box.state("local")).toBe("outdated");
    const report = await install(agent, "local", box.options);
    expect(report.files[0]?.action).toBe("updated");
    expect(box.read(box.localFile)).not.toContain(join(box.base, "bin"));
    expect(box.state("local")).toBe("installed");
    await uninstall(agent, "local", box.options);
    expect(box.read(box.localFile)).toBe(own);
  });

  test("a file that git already ignores needs no exclusion", async () => {
    box.put(join(box.root, ".gitignore"), "*.local.json\n");
    const before = box.bytes(box.excludeFile);
    const report = await install(agent, "local", box.options);
    expect(report.files).toHaveLength(1);
    expect(box.bytes(box.excludeFile)).toEqual(before);
  });

  test("an exclude file without a final newline, or none at all, comes back as it was", async () => {
    box.put(box.excludeFile, "*.swp");
    await install(agent, "local", box.options);
    expect(box.status()).toBe("");
    await uninstall(agent, "local", box.options);
    expect(box.read(box.excludeFile)).toBe("*.swp");

    rmSync(join(box.root, ".git", "info"), { recursive: true });
    await install(agent, "local", box.options);
    expect(box.status()).toBe("");
    await uninstall(agent, "local", box.options);
    expect(existsSync(join(box.root, ".git", "info"))).toBe(false);
  });

  test("a rule that includes the file is reported", async () => {
    box.put(join(box.root, ".gitignore"), "!.claude/settings.local.json\n");
    const report = await install(agent, "local", box.options);
    expect(report.notes.join()).toContain("git still lists .claude/settings.local.json");
  });

  test("a tracked file is left alone for the user's own", async () => {
    box.put(box.localFile, "{}\n");
    box.git(box.root, "add", ".claude");
    const plan = await planInstall(agent, "local", box.options);
    expect(plan).toMatchObject({ asked: "local", scope: "user", file: box.userFile, action: "created", exclude: [] });
    const report = await install(agent, "local", box.options);
    expect(report.scope).toBe("user");
    expect(report.notes.join()).toContain("tracked by git");
    expect(box.read(box.localFile)).toBe("{}\n");
    expect(box.state("user")).toBe("installed");
  });

  test("works in a folder without git", async () => {
    box.options.workspace.kind = "private";
    const report = await install(agent, "local", box.options);
    expect(report.files).toHaveLength(1);
    await uninstall(agent, "local", box.options);
    expect(existsSync(join(box.root, ".claude"))).toBe(false);
  });

  test("a repository that was moved in between comes back as it was", async () => {
    await install(agent, "local", box.options);
    const own = '{"a":1}';
    const moved = join(box.base, "moved");
    renameSync(box.root, moved);
    box.root = moved;
    box.options = box.optionsFor(moved);
    expect(installedRoots(profile, box.options)).toEqual([]);
    await uninstall(agent, "local", box.options);
    expect(existsSync(join(box.root, ".claude"))).toBe(false);
    expect(existsSync(join(box.options.workspace.storeDir, "edits"))).toBe(false);

    box.put(box.localFile, own);
    await install(agent, "local", box.options);
    renameSync(box.root, join(box.base, "again"));
    box.root = join(box.base, "again");
    box.options = box.optionsFor(box.root);
    expect((await install(agent, "local", box.options)).files[0]?.action).toBe("unchanged");
    await uninstall(agent, "local", box.options);
    expect(box.read(box.localFile)).toBe(own);
    expect(existsSync(join(box.options.workspace.storeDir, "edits"))).toBe(false);
  });

  test("work trees share the exclusion until the last has gone", async () => {
    box.git(box.root, "commit", "--allow-empty", "--quiet", "-m", "first");
    const other = join(box.base, "other");
    box.git(box.root, "worktree", "add", "--quiet", other);
    const inOther = { ...box.options, workspace: { ...box.options.workspace, root: other } };
    await install(agent, "local", box.options);
    await install(agent, "local", inOther);
    expect(installedRoots(profile, box.options).sort()).toEqual([other, box.root].sort());
    await uninstall(agent, "local", box.options);
    expect(box.git(other, "status", "--porcelain")).toBe("");
    await uninstall(agent, "local", inOther);
    expect(box.read(box.excludeFile)).not.toContain("Backtrail");
  });
});

describe("the other scopes", () => {
  test("the user's file is found where the agent looks for it", async () => {
    const moved = join(box.base, "moved");
    box.options.env = { ...box.options.env, CLAUDE_CONFIG_DIR: moved };
    const report = await install(agent, "user", box.options);
    expect(report.files).toEqual([{ file: join(moved, "settings.json"), action: "created" }]);
    await uninstall(agent, "user", box.options);
    expect(existsSync(moved)).toBe(false);
  });

  test("the user's hooks stay while another repository needs them", async () => {
    const second = box.optionsFor(box.repository("second"));
    box.put(box.userFile, '{"a":1}');
    await install(agent, "user", box.options);
    await install(agent, "user", second);
    const first = await uninstall(agent, "user", box.options);
    expect(first.files[0]?.action).toBe("kept");
    expect(first.notes.join()).toContain("other repositories");
    expect(box.state("user")).toBe("installed");
    await uninstall(agent, "user", second);
    expect(box.read(box.userFile)).toBe('{"a":1}');
  });

  test("a repository that was deleted holds nothing back", async () => {
    const second = box.optionsFor(box.repository("second"));
    await install(agent, "user", box.options);
    await install(agent, "user", second);
    rmSync(join(box.base, "second"), { recursive: true });
    await uninstall(agent, "user", box.options);
    expect(existsSync(box.userFile)).toBe(false);
  });

  test("the shared file gets a command without a path of this machine", async () => {
    const report = await install(agent, "project", box.options);
    const text = box.read(join(box.root, ".claude", "settings.json"));
    expect(text).toContain("if command -v backtrail >/dev/null 2>&1; then backtrail hooks claude-code stop || :; fi");
    expect(text).not.toContain(box.base);
    expect(report.files).toHaveLength(1);
    expect(box.status()).toContain(".claude/settings.json");
    expect(box.state("project")).toBe("installed");
  });

  test("another scope moves the hooks", async () => {
    const excludeBefore = box.bytes(box.excludeFile);
    await install(agent, "local", box.options);
    const report = await install(agent, "project", box.options);
    expect(report.notes.join()).toContain(`no longer in ${box.localFile}`);
    expect([box.state("local"), box.state("project")]).toEqual(["absent", "installed"]);
    expect(box.bytes(box.excludeFile)).toEqual(excludeBefore);
    await install(agent, "user", box.options);
    expect([box.state("project"), box.state("user")]).toEqual(["absent", "installed"]);
    await uninstall(agent, "user", box.options);
    expect([existsSync(join(box.root, ".claude")), existsSync(box.userFile)]).toEqual([false, false]);
  });

  test("hooks that another tool installed in a second place are reported if they would run twice", async () => {
    const second = box.optionsFor(box.repository("second"));
    await install(agent, "user", second);
    expect((await install(agent, "local", box.options)).notes).toEqual([]);
    const report = await install(agent, "project", box.options);
    expect(report.notes.join()).toContain(`${box.userFile} as well`);
    expect(box.state("user")).toBe("installed");
  });

  test("an agent without a local file uses the shared one, excluded, until git tracks it", async () => {
    const { local: _, ...settings } = profile.hooks?.settings ?? {};
    const other = { ...profile, hooks: { ...profile.hooks, settings } } as Profile;
    await install({ profile: other }, "local", box.options);
    const text = box.read(join(box.root, ".claude", "settings.json"));
    expect(text).toContain(join(box.base, "bin", "backtrail"));
    expect(box.status()).toBe("");
    await uninstall({ profile: other }, "local", box.options);
    expect(existsSync(join(box.root, ".claude"))).toBe(false);
  });
});

test("the target of the user's own link is edited, and the result says so", async () => {
  const dotfile = join(box.base, "dotfiles", "claude.json");
  box.put(dotfile, '{"a": 1}\n');
  box.link(box.userFile, dotfile);
  const report = await install(agent, "user", box.options);
  expect(report.notes.join()).toContain("symbolic link");
  expect(lstatSync(box.userFile).isSymbolicLink()).toBe(true);
  expect(box.read(dotfile)).toContain("hooks claude-code stop");
  await uninstall(agent, "user", box.options);
  expect(lstatSync(box.userFile).isSymbolicLink()).toBe(true);
  expect(box.read(dotfile)).toBe('{"a": 1}\n');
});
