import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../test/support/directory.ts";
import { UserError } from "../../base/errors.ts";
import { startAgent } from "./start-agent.ts";

test("each step starts as it is, in its directory, with a file's content as one word", async () => {
  using place = temporaryDirectory();
  const prompt = place.write("it's here.md", "one 'two' $(three) && four\n\n");
  place.write("work/seen", "");
  const record = (...args: (string | { file: string })[]) => ({
    program: "sh",
    args: ["-c", 'printf "%s|" "$@" >> seen', "sh", ...args],
  });
  const code = await startAgent(
    { cwd: place.at("work"), steps: [record("a b", ";", "&&"), record({ file: prompt })] },
    "/",
  );
  expect([code, place.read("work/seen")]).toEqual([0, "a b|;|&&|one 'two' $(three) && four|"]);
});

test("a step that fails is the last one", async () => {
  using place = temporaryDirectory();
  const steps = ["exit 3", "touch never"].map((script) => ({ program: "sh", args: ["-c", script] }));
  expect([await startAgent({ cwd: null, steps }, place.path), place.exists("never")]).toEqual([3, false]);
});

test("the user is told if there is no command or no such program", async () => {
  for (const command of [undefined, { cwd: null, steps: [] }, { cwd: null, steps: [{ program: "no-such", args: [] }] }])
    expect(await startAgent(command, "/").catch((error: unknown) => error)).toBeInstanceOf(UserError);
});
