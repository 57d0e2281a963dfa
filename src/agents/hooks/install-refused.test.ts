import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { agent, profile, Sandbox } from "../../../test/edit/sandbox.ts";
import type { Profile } from "../contract/profile.ts";
import { install, uninstall } from "./install.ts";

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

describe("files that can't be used are left alone", () => {
  const refusals: [string, string, RegExp][] = [
    ["invalid JSON", '{"a": ', /not valid JSON/],
    ["two documents", "{}{}", /not valid JSON/],
    ["a list", "[]\n", /does not hold an object/],
    ["hooks that are no object", '{"hooks": null}', /"hooks" in it is not an object/],
    ["an event that is no list", '{"hooks": {"Stop": {}}}', /"hooks.Stop" in it is not a list/],
    ["a key that stands twice", '{"hooks": {}, "hooks": {}}', /would also change/],
  ];
  test.each(refusals)("%s", async (_, content, message) => {
    box.put(box.localFile, content);
    const excludeBefore = box.bytes(box.excludeFile);
    await expect(install(agent, "local", box.options)).rejects.toThrow(message);
    expect(box.read(box.localFile)).toBe(content);
    expect(box.bytes(box.excludeFile)).toEqual(excludeBefore);
    expect(box.state("local")).toBe("absent");
  });

  test("bytes that are no text", async () => {
    const content = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    box.put(box.localFile, content);
    await expect(install(agent, "local", box.options)).rejects.toThrow("not UTF-8");
    expect(box.bytes(box.localFile)).toEqual(content);
  });

  test("a read-only file", async () => {
    box.put(box.localFile, "{}");
    chmodSync(box.localFile, 0o444);
    await expect(install(agent, "local", box.options)).rejects.toThrow("read-only");
    expect(box.read(box.localFile)).toBe("{}");
    expect(box.read(box.excludeFile)).not.toContain("Backtrail");
  });

  test("a directory in place of the file, a file in place of the directory", async () => {
    mkdirSync(box.localFile, { recursive: true });
    await expect(install(agent, "local", box.options)).rejects.toThrow("is a directory");
    rmSync(join(box.root, ".claude"), { recursive: true });
    box.put(join(box.root, ".claude"), "");
    await expect(install(agent, "local", box.options)).rejects.toThrow("a file is where its directory should be");
  });

  test("a symbolic link that leaves the repository, and one to nothing", async () => {
    box.put(join(box.base, "outside.json"), "{}");
    box.link(box.localFile, join(box.base, "outside.json"));
    await expect(install(agent, "local", box.options)).rejects.toThrow("outside");
    expect(box.read(join(box.base, "outside.json"))).toBe("{}");
    rmSync(box.localFile);
    box.link(box.localFile, "nowhere.json");
    await expect(install(agent, "local", box.options)).rejects.toThrow("symbolic link to nothing");
    rmSync(join(box.root, ".claude"), { recursive: true });
    box.link(join(box.root, ".claude"), box.base);
    await expect(install(agent, "local", box.options)).rejects.toThrow("outside");
  });

  test("an executable that hooks can't call", async () => {
    for (const executable of ["backtrail", "/usr/bin/bun", "/a\nb/backtrail"]) {
      await expect(install(agent, "local", { ...box.options, executable })).rejects.toThrow(
        "executable named backtrail",
      );
    }
    expect(existsSync(box.localFile)).toBe(false);
  });

  test("a profile that leads out of its directory, or whose verb is a command", async () => {
    const hooks = profile.hooks;
    if (!hooks) throw new Error("no hooks");
    const out = {
      ...profile,
      hooks: { ...hooks, settings: { local: { path: "../x.json", format: "claude-settings" } } },
    };
    await expect(install({ profile: out as Profile }, "local", box.options)).rejects.toThrow("outside");
    const settings = { user: { path: "../x.json", format: "claude-settings" } };
    const outOfHome = { ...profile, hooks: { ...hooks, settings } } as Profile;
    await expect(install({ profile: outOfHome }, "user", box.options)).rejects.toThrow("outside");
    const bad = { ...profile, hooks: { ...hooks, install: { Stop: { verb: "stop; rm -rf ~" } } } };
    await expect(install({ profile: bad }, "local", box.options)).rejects.toThrow("can't be installed");
  });
});

test("an installation that fails halfway takes its first half back", async () => {
  const excludeBefore = box.bytes(box.excludeFile);
  const records = join(box.options.workspace.storeDir, "edits");
  await install(agent, "local", box.options);
  const blocked = readdirSync(records).find((name) => box.read(join(records, name)).includes(box.localFile));
  await uninstall(agent, "local", box.options);
  // A directory in the record's place: the exclusion can be written, the settings can't.
  mkdirSync(join(records, blocked ?? "", "in the way"), { recursive: true });
  await expect(install(agent, "local", box.options)).rejects.toThrow();
  expect(box.bytes(box.excludeFile)).toEqual(excludeBefore);
  expect(existsSync(box.localFile)).toBe(false);
});
