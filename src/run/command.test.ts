import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import type { RunSection } from "../agents/contract/profile.ts";
import { runners } from "./agents.ts";
import { type Ask, commandOf, modelIn } from "./command.ts";

const plain: Ask = { prompt: "fix it", model: null, session: null, newSession: "new-id", context: null, args: [] };
const all = await runners();
const runOf = (name: string): RunSection => {
  const found = all.find((runner) => runner.name === name);
  if (!found) throw new Error(`There is no ${name}.`);
  return found.run;
};

test("each agent's command, as its CLI wants it", () => {
  const shown = Object.fromEntries(
    all.map(({ name, run }) => {
      const asks = {
        new: plain,
        ...(run.resume ? { resumed: { ...plain, session: "s1" } } : {}),
        model: { ...plain, model: "m1", args: ["--x"] },
      };
      return [
        name,
        Object.fromEntries(Object.entries(asks).map(([what, ask]) => [what, commandOf(run, ask).args.join(" ")])),
      ];
    }),
  );
  expect(shown).toMatchSnapshot();
});

test("any prompt is one argument, and never a flag or a placeholder", () => {
  const words = fc.oneof(fc.string(), fc.constantFrom("--help", "-x", "{session}", "{args}", "$(rm -rf /)", "a\nb"));
  fc.assert(
    fc.property(words, (prompt) => {
      for (const { run } of all) {
        const { args, input } = commandOf(run, { ...plain, prompt });
        if (run.stdin) {
          expect(input).toBe(prompt);
          expect(args).toEqual(commandOf(run, plain).args);
        } else {
          const last = args.at(-1) ?? "";
          expect(last === prompt || last === `--prompt=${prompt}`).toBe(true);
          expect(args.slice(0, -1)).toEqual(commandOf(run, plain).args.slice(0, -1));
        }
      }
    }),
    runs(100),
  );
});

test("a session's id of our choosing only where the user's words allow it", () => {
  const claude = runOf("claude");
  expect(commandOf(claude, plain)).toMatchObject({ session: "new-id" });
  for (const word of ["--continue", "-r", "--resume=abc", "--session-id"]) {
    const command = commandOf(claude, { ...plain, args: [word] });
    expect(command.session).toBeNull();
    expect(command.args).not.toContain("new-id");
  }
  expect(commandOf(runOf("codex"), plain).session).toBeNull();
});

test("context goes where the agent takes it, or before the prompt", () => {
  expect(commandOf(runOf("claude"), { ...plain, context: "known" }).args.join(" ")).toContain(
    "--append-system-prompt known -- fix it",
  );
  expect(commandOf(runOf("codex"), { ...plain, context: "known" }).args.at(-1)).toBe("known\n\nfix it");
  expect(commandOf(runOf("opencode"), { ...plain, context: "known" }).input).toBe("known\n\nfix it");
});

test("the model that the user's own words name counts", () => {
  const gemini = runOf("gemini");
  expect(modelIn(gemini, ["-m", "pro"])).toBe("pro");
  expect(modelIn(gemini, ["--model=pro"])).toBe("pro");
  expect(modelIn(gemini, ["--modelled", "x"])).toBeNull();
  expect(commandOf(gemini, { ...plain, model: "pro", args: ["-m", "pro"] }).args).not.toContain("--model");
});

test("a prompt that the system can't pass on is refused", () => {
  expect(() => commandOf(runOf("claude"), { ...plain, prompt: "x".repeat(200_000) })).toThrow("The prompt is too long");
  expect(() => commandOf(runOf("claude"), { ...plain, prompt: "a\0b" })).toThrow("The prompt contains a NUL byte");
  expect(commandOf(runOf("opencode"), { ...plain, prompt: "x".repeat(200_000) }).input).toHaveLength(200_000);
});
