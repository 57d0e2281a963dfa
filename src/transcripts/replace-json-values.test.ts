import { expect, test } from "bun:test";
import fc from "fast-check";
import { withValue } from "./replace-json-values.ts";

const FROM = "0f8a";
const TO = "a-longer-one";

function replacedIn(text: string): string {
  return Buffer.concat(withValue([Buffer.from(text)], ["id", "session"], FROM, TO)).toString();
}

test("every value of each key is replaced, and nothing else", () => {
  const line = { id: FROM, inner: [{ session: FROM }, { session: "0f8a9" }], other: FROM };
  expect(JSON.parse(replacedIn(JSON.stringify(line)))).toEqual({
    id: TO,
    inner: [{ session: TO }, { session: "0f8a9" }],
    other: FROM,
  });
});

test("quoted text stays unchanged", () => {
  fc.assert(
    fc.property(fc.string(), (around) => {
      const said = `${around}"id":"${FROM}"${around}`;
      expect(JSON.parse(replacedIn(JSON.stringify({ id: FROM, said })))).toEqual({ id: TO, said });
    }),
  );
});

test("parts stay in their order", () => {
  const parts = [`{"id":"${FROM}"}\n`, "{}\n", `{"session":"${FROM}"}\n`].map((part) => Buffer.from(part));
  const result = Buffer.concat(withValue(parts, ["id", "session"], FROM, TO)).toString();
  expect(result).toBe(`{"id":"${TO}"}\n{}\n{"session":"${TO}"}\n`);
});
