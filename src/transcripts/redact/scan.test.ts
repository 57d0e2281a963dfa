/** The automaton finds what a search finds; every rule finds its own shape and reads no text over and over. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { buildAutomaton } from "./automaton.ts";
import { COMMAND_WORDS } from "./find/commands.ts";
import { NAMES } from "./find/names.ts";
import { builtInRules, matchShape, type Rule } from "./rules.ts";
import { Scanner } from "./scan.ts";

const rules = builtInRules();
const scanner = new Scanner(rules);

test("rules.json is made from the facts", () => {
  const script = join(import.meta.dirname, "..", "..", "..", "scripts", "generate-redaction-rules.ts");
  const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(rules.length).toBeGreaterThan(200);
});

test("the automaton finds every word wherever it ends", () => {
  const words = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(
      words,
      fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "B", " ", "ä"), maxLength: 40 }),
      (list, text) => {
        expect(found(list, Buffer.from(text))).toEqual(
          searched(list, Buffer.from(text.replace(/[A-Z]/g, (c) => c.toLowerCase()))),
        );
      },
    ),
  );
});

describe("every built-in rule", () => {
  test("finds a token of its shape, at its shortest and its longest", () => {
    for (const rule of rules.filter(({ keyword }) => keyword)) {
      for (const longest of [false, true]) {
        const token = tokenOf(rule, longest);
        const text = Buffer.from(`see ${token} here`);
        const spans = scanner
          .scan(text, 0, text.length, { random: false })
          .map(({ start, end }) => text.toString("latin1", start, end));
        expect(spans).toContain(token);
      }
    }
  });

  test("finds a value of its shape under its names", () => {
    for (const rule of rules) {
      for (const near of rule.near) {
        const token = tokenOf(rule, true);
        const text = Buffer.from(`${near}_x = "${token}"`);
        const spans = scanner
          .scan(text, 0, text.length, { random: false })
          .map(({ start, end }) => text.toString("latin1", start, end));
        expect(spans).toContain(token);
      }
    }
  });

  test("reads in proportion to the text, however the text is made", () => {
    for (const rule of rules) {
      const words = rule.keyword ? [literalOf(rule)] : [...rule.near];
      const run = tokenOf(rule, true);
      for (const word of words) {
        for (const unit of [
          word,
          `${word}-`,
          `.${word}`,
          `${word}=`,
          `${word}="`,
          `${word}${run.slice(0, 40)}`,
          `-${run.slice(0, -1)}`,
          `\\n${run}`,
        ]) {
          expectLinear(unit, rule.longest);
        }
      }
    }
  });

  test("and so do names, addresses and keys", () => {
    const units = [
      "://",
      "://a:",
      "-----BEGIN PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----\nAAAA",
      "bearer ",
      " -u a:",
      "eyJ-",
      "-eyJa.eyJ",
      "%41",
      "%25",
      "%2",
      "+key+",
      "cookie: a=",
      "cookie: a=b1; ",
      "authorization: ",
      '"kty',
      '"kty":"d":"',
      "otpauth://x?",
      "private-lines: 2\nAAAA\n",
      ":5432:a:b:",
      "the password is ",
      "password for the ",
      "pin is 1",
      "login: a / ",
      "YWJjZGVmZ2hpamts",
      "YWJj/",
      "ghp_abcdefgh\n",
      "token=abc1\\\n",
      "able about above ",
      "kind: secret\n",
      "kind: secret\ndata:\n a: b1c2d3\n---\n",
      '"kind": "secret", ',
      '{"kind": "secret", "data": {"a": "b1c2d3"}}, ',
      '"sensitive": true, ',
      '{"sensitive": true, "value": "b1c2d3"}, ',
      '"sensitive_values": {"a": true}, ',
      "random_password ",
      "recovery codes: a1b2-c3d4 ",
      "backup code\n",
      "password: sendline('",
      'password send "a1b2c3"',
      "insert into a (password) values ('a1b2c3'), ",
      "passwort ist a1b2c3 ",
      "account: a / ",
      "\ttrue\t/\ttrue\t",
    ];
    for (const unit of [
      ...units,
      ...COMMAND_WORDS.flatMap((word) => [`${word} `, `${word} -p`]),
      ...Object.keys(NAMES).flatMap((name) => [`${name}=`, `${name}:'`, `--${name} `]),
    ]) {
      expectLinear(unit);
    }
  });
});

/** Twice the text, twice the work; both are longer than what is looked for. */
function expectLinear(unit: string, longest = 1_000): void {
  const size = Math.max(2_000, longest * 2);
  const once = scanned(unit, size);
  const twice = scanned(unit, size * 2);
  expect(twice).toBeLessThanOrEqual((once + size) * 2.5);
  // A value has at most 512 bytes: this is what a text of nothing but names can cost.
  expect(twice).toBeLessThanOrEqual(size * 2 * 700);
}

function scanned(unit: string, size: number): number {
  const text = Buffer.from(unit.repeat(Math.ceil(size / unit.length)).slice(0, size));
  const before = scanner.work;
  scanner.scan(text, 0, text.length);
  return scanner.work - before;
}

/** A token made from the rule's own shape, with enough variety to pass for random. */
function tokenOf(rule: Rule, longest: boolean): string {
  let step = 0;
  const token = rule.pieces
    .map((piece) => {
      if ("fixed" in piece) return Buffer.from(piece.fixed).toString();
      const letters = Array.from(piece.set.keys()).filter(
        (byte) => piece.set[byte] === 1 && /[A-Za-z0-9]/.test(String.fromCharCode(byte)),
      );
      const count = longest ? piece.most : piece.least;
      return Array.from({ length: count }, () => {
        step += 7;
        return String.fromCharCode(letters[step % letters.length] ?? 0);
      }).join("");
    })
    .join("");
  expect(matchShape(rule, Buffer.from(token), 0, token.length)).toBe(token.length);
  return token;
}

/** The keyword as the shape writes it. */
function literalOf(rule: Rule): string {
  const texts = rule.pieces.flatMap((piece) => ("fixed" in piece ? [Buffer.from(piece.fixed).toString()] : []));
  return texts.find((text) => text.toLowerCase() === rule.keyword) ?? "";
}

function found(words: string[], text: Buffer): string[] {
  const { next, classes, width, firstEnd, ends, lengths } = buildAutomaton(words);
  const hits: string[] = [];
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    at = next[at + (classes[text[i] ?? 0] ?? 0)] ?? 0;
    if (at < firstEnd) continue;
    for (const word of ends[(at - firstEnd) / width] ?? []) hits.push(`${i + 1 - (lengths[word] ?? 0)} ${words[word]}`);
  }
  return hits.sort();
}

function searched(words: string[], text: Buffer): string[] {
  return words
    .flatMap((word) => {
      const hits: string[] = [];
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) hits.push(`${at} ${word}`);
      return hits;
    })
    .sort();
}
