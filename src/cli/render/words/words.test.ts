import { expect, test } from "bun:test";
import { ProblemError } from "../../../base/errors.ts";
import { KEYS } from "../../../config/keys.ts";
import { RestoreError } from "../../../restore/problems.ts";
import { TABLES } from "./index.ts";
import { meaningOf } from "./setup/settings.ts";

test("no two layers have a problem of the same kind", () => {
  const kinds = TABLES.flatMap((table) => Object.keys(table));
  expect(kinds.filter((kind, i) => kinds.indexOf(kind) !== i)).toEqual([]);
});

test("a problem's message is its sentence, and its data is kept", () => {
  const error = new RestoreError("not-found", { kind: "step-gone", step: "kqzt" });
  expect({ ...error, message: error.message }).toEqual({
    name: "UserError",
    kind: "not-found",
    message: "Step kqzt is gone.",
    hint: "`backtrail log` shows what is left.",
    problem: { kind: "step-gone", step: "kqzt" },
  });
});

test("a problem without words is named by its kind and its values", () => {
  expect(new ProblemError("failed", { kind: "unheard-of" }).message).toBe("unheard-of");
  const problem = { kind: "unheard-of", path: "a b" };
  expect(new ProblemError("failed", problem).message).toBe('unheard-of {"path":"a b"}');
});

test("every setting has a meaning", () => {
  expect(KEYS.filter(({ name }) => meaningOf(name) === "")).toEqual([]);
});
