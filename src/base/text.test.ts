import { expect, test } from "bun:test";
import { shortSession } from "./text.ts";

test("a short session id tells sessions of every agent apart", () => {
  expect(shortSession("5f0c2b1e-1111-4222-8333-444444444444")).toBe("5f0c2b1e");
  expect(shortSession("deadbeef-0b5a-4c22-8333-444444444444")).toBe("deadbeef");
  expect(shortSession("session_0f6f2a10-51f3-4a1b-9f5a-3b0d2c6f1a77")).toBe("session_0f6f2a10");
  expect(shortSession("ses_e0fb34db6ffePppYCE34BqnOP9")).toBe("ses_e0fb34db");
  expect(shortSession("1794798125727_abcde")).toBe("1794798125727");
  expect(shortSession("2026-01-05T09-00-00")).toBe("2026-01-05T09-00-00");
  expect(shortSession("unknown")).toBe("unknown");
  expect(shortSession("-")).toBe("-");
  expect(shortSession("")).toBe("");
});

test("it is a prefix of the displayed id, so it can be typed", () => {
  for (const id of ["a_b", "averyveryverylongword_1", "20261118T120254Z", "x".repeat(300)]) {
    expect(id.startsWith(shortSession(id))).toBe(true);
    expect(shortSession(id).length).toBeLessThanOrEqual(32);
  }
});
