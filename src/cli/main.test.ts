import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { runCommand } from "./main.ts";
import { COMMANDS } from "./program/index.ts";
import { widthOf } from "./render/layout/text.ts";
import { EXIT, exitCodeOf } from "./terminal/exit.ts";
import { type Channel, type Io, makeIo, wantsColor } from "./terminal/io.ts";

interface Captured {
  out: string;
  err: string;
  code: number;
}

function run(...argv: string[]): Promise<Captured> {
  return runIn(80, ...argv);
}

async function runIn(columns: number, ...argv: string[]): Promise<Captured> {
  const captured = { out: "", err: "", code: -1 };
  const channel = (name: "out" | "err"): Channel => ({
    isTerminal: false,
    columns,
    rows: 24,
    paint: (_style, text) => text,
    write: (text) => {
      captured[name] += text;
    },
  });
  const io: Io = makeIo({ cwd: "/", environment: {}, out: channel("out"), err: channel("err"), interactive: false });
  captured.code = await runCommand(argv, io);
  return captured;
}

test("every command has help that fits 80 columns and names its options", async () => {
  for (const command of COMMANDS) {
    const { out, err, code } = await run(...command.path.split(" "), "--help");
    expect({ code, err }).toEqual({ code: EXIT.done, err: "" });
    expect(out).toContain(`backtrail ${command.path}`);
    for (const option of command.options ?? []) expect(out).toContain(option.flags);
    for (const line of out.split("\n")) expect({ line, fits: widthOf(line) <= 80 }).toEqual({ line, fits: true });
  }
});

test("a bare call and --help show the same, every group with its commands", async () => {
  const bare = await run();
  expect(bare.code).toBe(EXIT.done);
  expect((await run("--help")).out).toBe(bare.out);
  for (const command of COMMANDS)
    if (!command.hidden && !command.path.includes(" ")) expect(bare.out).toContain(`  ${command.path}`);
  for (const line of bare.out.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(80);
});

test("piped help is wrapped as for a usual terminal", async () => {
  expect((await runIn(Number.POSITIVE_INFINITY, "rewind", "--help")).out).toBe((await run("rewind", "--help")).out);
});

test("in a narrow terminal, help breaks lines between words, and names stay whole", async () => {
  for (const { path, hidden } of COMMANDS) {
    if (hidden) continue;
    const { out } = await runIn(50, ...path.split(" "), "--help");
    const tooLong = out.split("\n").filter((line) => widthOf(line) > 50);
    expect(tooLong.filter((line) => !/^( {2}|Usage: |Alias: )(backtrail|npm|eval) /.test(line))).toEqual([]);
  }
  expect((await runIn(50, "--help")).out.split("\n").filter((line) => widthOf(line) > 50)).toEqual([]);
});

test("errors and hints wrap at the terminal's width", async () => {
  const { err } = await runIn(30, "rewnid");
  expect(err).toBe("error: Unknown command\n'rewnid'.\nhint: Did you mean `rewind`?\n");
});

test("mistakes are reported with a suggestion", async () => {
  expect(await run("lgo")).toEqual({
    out: "",
    err: "error: Unknown command 'lgo'.\nhint: Did you mean `log`?\n",
    code: EXIT.usage,
  });
  expect((await run("worker")).err).toContain("Did you mean `forget` or `fork`?");
  expect((await run("config", "gte", "x")).err).toContain("Did you mean `get`?");
  expect((await run("rewind", "--dryrun")).err).toContain("Did you mean `--dry-run`?");
  expect((await run("completion")).err).toContain("`backtrail completion --help`");
  expect((await run("rewind", "x", "--code-only", "--chat-only")).code).toBe(EXIT.usage);
  expect((await run("log", "--limit", "many")).code).toBe(EXIT.usage);
  expect((await run("-C", "/no/such/place", "status")).code).toBe(EXIT.usage);
  expect((await run("doctor", "--check", "--fix")).code).toBe(EXIT.usage);
});

test("the path is the command: every one of them has its file, in the folder of its noun", async () => {
  const root = join(import.meta.dirname, "commands");
  for (const command of COMMANDS) {
    if (!command.load) continue;
    const words = command.path.split(" ");
    const nouns = words.length > 1 ? [words[0] ?? ""] : [".", ...readdirSync(root)];
    const files = nouns.map((noun) => join(root, noun, `${words.at(-1)}.ts`)).filter((file) => existsSync(file));
    const modules = await Promise.all(files.map((file) => import(file)));
    expect(modules).toContain(await command.load());
  }
});

test("kinds of errors and their exit codes", () => {
  const codes = (["failed", "usage", "not-found", "refused", "interrupted"] as const).map((kind) =>
    exitCodeOf(new UserError(kind, "")),
  );
  expect(codes).toEqual([1, 2, 3, 4, 130]);
  expect(exitCodeOf(new Error())).toBe(1);
  expect(exitCodeOf("thrown")).toBe(1);
});

test("color follows NO_COLOR, FORCE_COLOR and the terminal", () => {
  expect(wantsColor(true, {})).toBe(true);
  expect(wantsColor(false, {})).toBe(false);
  expect(wantsColor(true, { TERM: "dumb" })).toBe(false);
  expect(wantsColor(true, { NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
  expect(wantsColor(true, { NO_COLOR: "" })).toBe(true);
  expect(wantsColor(false, { FORCE_COLOR: "1" })).toBe(true);
  expect(wantsColor(true, { FORCE_COLOR: "0" })).toBe(false);
});

test("a directory that goes while the command starts is named", async () => {
  const code = `
    const { mkdtempSync, rmdirSync } = await import("node:fs");
    const { main } = await import(${JSON.stringify(join(import.meta.dirname, "main.ts"))});
    const directory = mkdtempSync(${JSON.stringify(join(tmpdir(), "backtrail-gone-"))});
    process.chdir(directory);
    rmdirSync(directory);
    process.exitCode = await main(["log"]);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "pipe" });
  expect(await child.stderr.text()).toBe("error: The current directory is gone.\nhint: Change to one that exists.\n");
  expect(await child.exited).toBe(1);
});
