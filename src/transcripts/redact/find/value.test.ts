import { expect, test } from "bun:test";
import { kindOfKey } from "./names.ts";
import { entropyOf, isReference, isStandIn, isWordy } from "./value.ts";

test("entropy in bits a byte", () => {
  expect(entropyOf(Buffer.from("aaaa"), 0, 4)).toBe(0);
  expect(entropyOf(Buffer.from("abcd"), 0, 4)).toBe(2);
  expect(entropyOf(Buffer.from("xaabbx"), 1, 5)).toBe(1);
  expect(entropyOf(Buffer.from(""), 0, 0)).toBe(0);
});

test("words, and other text", () => {
  for (const text of ["user-input", "prod_db_v2", "SomeClassName", "config.auth.token", "README", "hunter2"])
    expect([text, isWordy(text)]).toEqual([text, true]);
  for (const text of ["a8f3k2", "Tr0ub4dor", "xKqPzWvT", "12ab34cd", "p4ss"])
    expect([text, isWordy(text)]).toEqual([text, false]);
});

test("stand-ins and references", () => {
  for (const text of [
    "$TOKEN",
    `$${"{x}"}`,
    "<token>",
    "{{ a }}",
    "xxxxxxxx",
    "********",
    "your_key",
    "changeme",
    "%s",
  ])
    expect([text, isStandIn(text)]).toEqual([text, true]);
  for (const text of ["s3cr3t!", "$2b$10$abc", "!Passw0rd"]) expect([text, isStandIn(text)]).toEqual([text, false]);
  for (const text of ["a.b.c", "f(x)", "/etc/ssl/key.pem", "https://a/b", "Foo::bar", "a?.b"])
    expect([text, isReference(text)]).toEqual([text, true]);
  for (const text of ["a1b2.c3!", "s3cr3t/+="]) expect([text, isReference(text)]).toEqual([text, false]);
});

test("keys that say «secret», and keys that only speak of one", () => {
  for (const key of ["password", "DB_PASSWORD", "passwordProd"])
    expect([key, kindOfKey(key)]).toEqual([key, "password"]);
  for (const key of ["apiKey", "API_TOKEN", "client_secret", "x-api-key", "auth", "secretKey"])
    expect([key, kindOfKey(key)]).toEqual([key, "secret"]);
  for (const key of [
    "tokens",
    "max_tokens",
    "tokenizer",
    "passwordField",
    "secret_name",
    "token_count",
    "author",
    "monkey",
  ])
    expect([key, kindOfKey(key)]).toEqual([key, undefined]);
});

test("long and hostile values are classified quickly", () => {
  const size = 50_000;
  for (const unit of ["a", "aA", "1", "a.", "a-", "$", "_", "x1", "a::", "<", "A"]) {
    for (const end of ["", "=", "!", "\u0000"]) {
      const text = unit.repeat(size) + end;
      for (const tell of [isWordy, isStandIn, isReference, kindOfKey]) tell(text);
    }
  }
});
