import { expect, test } from "bun:test";
import { demandId, forkDirectory, forkTitle } from "./fork.ts";

test("a title has the prefix once, on one line, and is not too long", () => {
  expect(forkTitle({ title: "Add a button" }, "[Fork] ")).toBe("[Fork] Add a button");
  expect(forkTitle({ title: "[Fork] [Fork] Add\na button" }, "[Fork] ")).toBe("[Fork] Add a button");
  expect(forkTitle({ title: "Add a button" }, "")).toBe("Add a button");
  expect(forkTitle({ title: "" }, "[Fork] ")).toBe("[Fork]");
  expect(forkTitle({ title: "x".repeat(200) }, "[Fork] ")).toHaveLength(80);
});

test("a prefix of nothing but space takes nothing away", () => {
  expect(forkTitle({ title: "Add a button" }, "  ")).toBe("Add a button");
});

test("an id that the agent would not take is refused by name", () => {
  demandId("abc", /^[a-z]+$/, "Droid session");
  expect(() => demandId("../a\nb", /^[a-z]+$/, "Droid session")).toThrow(
    '"../a b" can\'t be the id of a Droid session.',
  );
});

test("a fork is beside the original, one for another work tree in its own directory", () => {
  const request = {
    bytes: new Uint8Array(0),
    lastId: null,
    newSessionId: "b",
    title: "",
    transcriptPath: "/home/u/sessions/-code-app/a.jsonl",
    projectRoot: "/code/app",
  };
  expect(forkDirectory(request, "-code-app")).toBe("/home/u/sessions/-code-app");
  expect(forkDirectory(request, "-code")).toBe("/home/u/sessions/-code-app");
  expect(forkDirectory(request, "-code-other")).toBe("/home/u/sessions/-code-other");
});
