import { expect, test } from "bun:test";
import type { Io } from "../terminal/io.ts";
import { oneMore, wholeNumber } from "./options.ts";
import { commandsOf, lazy, type OptionsOf } from "./spec.ts";

const sample = commandsOf("Look back")("sample", "a sample", {
  arguments: [
    { name: "<place>", help: "" },
    { name: "[other-paths...]", help: "" },
  ],
  options: [
    { flags: "-n, --dry-run", help: "" },
    { flags: "-l, --limit <turns>", help: "", parse: wholeNumber },
    { flags: "--format <format>", help: "", choices: ["md", "html"] },
    { flags: "--paths <glob...>", help: "" },
    { flags: "-a, --agent <id>", help: "", parse: oneMore },
  ],
  takesRest: true,
});

type Expected = {
  place: string;
  otherPaths?: string[];
  dryRun?: boolean;
  limit?: number;
  format?: "md" | "html";
  paths?: string[];
  agent?: string[];
  rest: readonly string[];
};

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

test("the options of a command have the types that its flags say", () => {
  const isSame: Same<OptionsOf<typeof sample>, Expected> = true;
  expect(isSame).toBe(true);
});

test("a command does not compile if its code takes other options than its flags define", () => {
  const run = async (_: { limit?: string }, _io: Io) => undefined;
  // @ts-expect-error --limit is a number.
  expect(lazy(sample, async () => ({ run })).path).toBe("sample");
});
