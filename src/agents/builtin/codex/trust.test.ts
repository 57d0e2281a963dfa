import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Sandbox } from "../../../../test/edit/sandbox.ts";
import { readToml } from "../../../edit/toml.ts";
import { entryOf, type Value } from "../../../edit/value.ts";
import type { ReviewedHooks } from "../../contract/agent.ts";
import type { Profile, Scope } from "../../contract/profile.ts";
import { isOurCommand } from "../../hooks/command.ts";
import { install, uninstall } from "../../hooks/install.ts";
import { createAgent } from "./adapter.ts";
import profileJson from "./profile.json" with { type: "json" };
import { codexTrust } from "./trust.ts";

const codex = createAgent(profileJson as unknown as Profile);
const OWN = `# my settings
model = "gpt-6-sol" # the big one

[tui]
theme = 'dark'`;

let box: Sandbox;
let answers: string;
beforeEach(() => {
  box = new Sandbox();
  answers = join(box.home, ".codex", "config.toml");
});
afterEach(() => box.remove());

const put = (scope: Scope = "local", trust = true) => install(codex, scope, { ...box.options, trust });
const text = () => readFileSync(answers, "utf8");
const said = () => readToml(text()).value;
const keys = () => Object.keys(entryOf(entryOf(said(), "hooks"), "state") ?? {});
const level = (root: string): Value | undefined => entryOf(entryOf(entryOf(said(), "projects"), root), "trust_level");

describe("a hook's digest", () => {
  const command = (verb: string) =>
    `[ ! -x "/home/dev/bin/backtrail" ] || "/home/dev/bin/backtrail" hooks codex ${verb} || :`;
  const hook = (verb: string, more: object = {}) => ({ type: "command", command: command(verb), ...more });
  const hooks: ReviewedHooks = {
    file: "/home/dev/project/.codex/hooks.json",
    root: "/home/dev/project",
    env: {},
    isOurs: (each) => isOurCommand(each, "codex"),
    text: JSON.stringify({
      hooks: {
        Stop: [{ hooks: [{ type: "command", command: "say done" }] }, { hooks: [hook("stop")] }],
        SessionEnd: [{ hooks: [hook("session-end", { timeout: 3 })] }],
        PreToolUse: [{ matcher: "Bash|collaborationspawn_agent", hooks: [hook("pre-tool-use")] }],
      },
    }),
  };

  test("equals the hash that Codex computes, under Codex's name for the hook", () => {
    const written = codexTrust.edit(hooks).add(null).toString();
    const state = entryOf(entryOf(readToml(written).value, "hooks"), "state") ?? {};
    // As Codex 0.166.0 listed them.
    expect(JSON.parse(JSON.stringify(state))).toEqual({
      "/home/dev/project/.codex/hooks.json:stop:1:0": {
        trusted_hash: "sha256:b3389c004cc279808024d4d817385c2d09077223b432ad73fe69130fc4ff3986",
      },
      "/home/dev/project/.codex/hooks.json:session_end:0:0": {
        trusted_hash: "sha256:234db0bc4801e49ca6328742c24868373635f38d28d13a0651b3c863d9098806",
      },
      "/home/dev/project/.codex/hooks.json:pre_tool_use:0:0": {
        trusted_hash: "sha256:ade94f250cb45389680742e63b9f404b6f9c50783a334322f7c444bf79b4767d",
      },
    });
  });

  test("is given for no hook of the user's own", () => {
    expect(codexTrust.edit(hooks).add(null).toString()).not.toContain("stop:0:0");
  });
});

describe("without the user's word", () => {
  test("nothing is written, and the result says what Codex will ask", async () => {
    box.put(answers, OWN);
    const { notes, files } = await put("local", false);
    expect(text()).toBe(OWN);
    expect(files.map(({ file }) => file)).not.toContain(answers);
    expect(notes.join(" ")).toContain("new hooks wait for your review");
    expect(notes.join(" ")).toContain("--trust");
  });

  test("a review that was made already is not announced again", async () => {
    await put();
    expect((await put("local", false)).notes).toEqual([]);
    const moved = { ...box.options, executable: join(box.base, "elsewhere", "backtrail") };
    expect((await install(codex, "local", moved)).notes.join(" ")).toContain("wait for your review");
  });
});

describe("with the user's word", () => {
  test("every hook is answered for, and everything goes byte for byte with them", async () => {
    box.put(answers, OWN);
    const { files, notes } = await put();
    expect(files.at(-1)).toMatchObject({ file: answers, action: "edited" });
    expect(text().startsWith(OWN)).toBe(true);
    expect(keys()).toHaveLength(Object.keys(profileJson.hooks.install).length);
    expect(level(box.root)).toBe("trusted");
    expect(notes.join(" ")).toContain("reviewed by you");
    expect(notes.join(" ")).toContain("trusts the folder");
    expect(notes.join(" ")).not.toContain("wait for your review");

    const once = text();
    expect((await put()).files.at(-1)).toMatchObject({ action: "unchanged" });
    expect(text()).toBe(once);
    await uninstall(codex, "local", box.options);
    expect(text()).toBe(OWN);
  });

  test("a file that we made goes", async () => {
    await put();
    await uninstall(codex, "local", box.options);
    expect(existsSync(join(box.home, ".codex"))).toBe(false);
  });

  test("what Codex writes in between stays", async () => {
    box.put(answers, `${OWN}\n`);
    await put();
    const more = '\n[notice]\nhide_full_access_warning = true\n\n[projects."/other"]\ntrust_level = "trusted"\n';
    box.put(answers, text() + more);
    await uninstall(codex, "local", box.options);
    expect(text()).toBe(`${OWN}\n${more}`);
  });

  test("two repositories answer for themselves, and one goes without the other", async () => {
    box.put(answers, OWN);
    const [first, other] = [box.options, box.optionsFor(box.repository("other"))];
    await put();
    await install(codex, "local", { ...other, trust: true });
    await uninstall(codex, "local", first);
    expect(level(box.root)).toBeUndefined();
    expect(level(other.workspace.root)).toBe("trusted");
    expect(keys().every((key) => key.startsWith(other.workspace.root))).toBe(true);
    await uninstall(codex, "local", other);
    expect(text().trimEnd()).toBe(OWN);
  });

  test("the user's own approval is updated in place", async () => {
    const file = join(box.root, ".codex", "hooks.json");
    const own = `[hooks.state."${file}:stop:0:0"] # by me\ntrusted_hash = "sha256:old"\n`;
    box.put(answers, own);
    await put();
    expect(text().startsWith(own.replace(/sha256:old/, (/sha256:[0-9a-f]{64}/.exec(text()) ?? [""])[0]))).toBe(true);
    await uninstall(codex, "local", box.options);
    expect(text()).toBe(own);
  });

  test("a hook that the user refused stays refused, and the result says so", async () => {
    const file = join(box.root, ".codex", "hooks.json");
    const own = `[projects."${box.root}"]\ntrust_level = "untrusted"\n\n[hooks.state."${file}:stop:0:0"]\nenabled = false\n`;
    box.put(answers, own);
    const { notes } = await put();
    expect(level(box.root)).toBe("untrusted");
    expect(text().startsWith(own)).toBe(true);
    expect(text().match(/:stop:0:0/g)).toHaveLength(1);
    expect(notes.join(" ")).toContain("not to trust");
    expect(notes.join(" ")).toContain("turned off 1 of these hooks");
    await uninstall(codex, "local", box.options);
    expect(text()).toBe(own);
  });

  test("a moved Backtrail is answered for anew, without leftovers", async () => {
    box.put(answers, OWN);
    await put();
    box.put(answers, `${text()}\n[later]\n`);
    const moved = { ...box.options, executable: join(box.base, "elsewhere", "backtrail"), trust: true };
    expect((await install(codex, "local", moved)).files.at(-1)).toMatchObject({ file: answers, action: "updated" });
    expect(keys()).toHaveLength(Object.keys(profileJson.hooks.install).length);
    await uninstall(codex, "local", moved);
    expect(text()).toBe(`${OWN}\n\n[later]\n`);
  });

  test("the user's own hooks need no trusted folder, and moving them takes the old answer along", async () => {
    box.put(answers, OWN);
    await put();
    await put("user");
    expect(level(box.root)).toBeUndefined();
    expect(keys().every((key) => key.startsWith(join(box.home, ".codex", "hooks.json:")))).toBe(true);
    await uninstall(codex, "user", box.options);
    expect(text()).toBe(OWN);
  });

  test("the user's own hooks are answered for as long as a repository uses them", async () => {
    box.put(answers, OWN);
    const other = box.optionsFor(box.repository("other"));
    await put("user");
    await install(codex, "user", other);
    await uninstall(codex, "user", box.options);
    expect(keys()).not.toEqual([]);
    await uninstall(codex, "user", other);
    expect(text()).toBe(OWN);
  });

  test("a directory that CODEX_HOME names is known to Codex behind its links", async () => {
    const real = join(box.base, "real");
    mkdirSync(real);
    symlinkSync(real, join(box.base, "link"));
    const options = { ...box.options, env: { ...box.options.env, CODEX_HOME: join(box.base, "link") }, trust: true };
    await install(codex, "user", options);
    answers = join(real, "config.toml");
    expect(keys().every((key) => key.startsWith(join(real, "hooks.json:")))).toBe(true);
    await uninstall(codex, "user", options);
    expect(existsSync(answers)).toBe(false);
  });

  test("a file that can't be edited is left unchanged, and the result says so", async () => {
    for (const own of ["model = \n", "hooks = {}\n", "[[projects]]\n"]) {
      box.put(answers, own);
      const { unanswered, notes } = await put();
      expect(unanswered?.message).toContain("config.toml was left as it is");
      expect(notes.join(" ")).toContain("wait for your review");
      expect(text()).toBe(own);
      await uninstall(codex, "local", box.options);
      expect(text()).toBe(own);
    }
  });
});
