import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SECRET } from "../../../test/redact/corpus.ts";
import { filled } from "../../../test/redact/fill.ts";
import { SAMPLES } from "../../../test/redact/samples.ts";
import { PlaceholderTable, restorePlaceholders } from "./placeholders.ts";
import { createRedactor, type RedactOptions } from "./redactor.ts";

const redactor = await createRedactor();
const GITHUB = filled("ghp_{A36}", 1);
const AWS = filled("AKIA{T16}", 2);

function redacted(input: string, options: Partial<RedactOptions> = {}): string {
  return redactor.redact(input, { placeholders: new PlaceholderTable(), ...options }).bytes.toString();
}

describe("placeholders", () => {
  test("the same value gets the same number, another the next", () => {
    const other = filled("ghp_{A36}", 3);
    expect(redacted(`${GITHUB} ${AWS} ${other} ${GITHUB}`)).toBe(
      "[secret:github-token:1] [secret:aws-access-key:1] [secret:github-token:2] [secret:github-token:1]",
    );
  });

  test("findings name the bytes of the input", () => {
    const text = `ä ${GITHUB}`;
    const { found } = redactor.redact(text, { placeholders: new PlaceholderTable() });
    expect(found).toEqual([{ rule: "github-token", start: 3, end: 43, placeholder: "[secret:github-token:1]" }]);
  });

  test("a text that reads like a placeholder comes back as it was", () => {
    const placeholders = new PlaceholderTable();
    const text = `${GITHUB} was shown as [secret:github-token:1] and {"[secret:github-token:1]": 1}`;
    const { bytes } = redactor.redact(text, { placeholders });
    expect(bytes.toString()).toBe(
      '[secret:github-token:1] was shown as [secret:literal:1] and {"[secret:literal:1]": 1}',
    );
    expect(restorePlaceholders(bytes, placeholders).toString()).toBe(text);
  });
});

test("the more telling rule gives its name", () => {
  expect(redacted(`api_key=${GITHUB}`)).toBe("api_key=[secret:github-token:1]");
  expect(redacted(`https://me:${GITHUB}@host`)).toBe("https://me:[secret:github-token:1]@host");
  expect(redacted(JSON.stringify({ password: GITHUB }))).toBe('{"password":"[secret:github-token:1]"}');
});

test("what only shows once its neighbor is gone", () => {
  const text = `a ${GITHUB} b\n${filled("sk-ant-api03-{w93}AA\n{A64}", 3)}`;
  expect(redacted(text)).toBe("a [secret:github-token:1] b\n[secret:anthropic-key:1]\n[secret:high-entropy:1]");
});

describe("JSON", () => {
  test("ids, signatures, hashes and images are left alone", () => {
    const line = JSON.stringify({
      uuid: "0b9c1f0e-6b0e-4a55-9c53-0d8f1b3f8a11",
      sessionId: filled("{A40}", 1),
      requestId: filled("req_011C{A20}", 2),
      message: {
        id: filled("msg_01{A22}", 3),
        content: [
          { type: "thinking", thinking: "…", signature: filled("{b300}==", 4) },
          { type: "thinking", thinking: "…", signature: filled("{b86}==", 8) },
          { type: "image", source: { type: "base64", media_type: "image/png", data: filled("iVBORw0KGgo{b900}", 5) } },
          { type: "reasoning", encrypted_content: filled("gAAAAAB{w400}", 6) },
        ],
      },
      hash: filled("{A44}", 7),
    });
    expect(redacted(line)).toBe(line);
    expect(redacted(JSON.stringify(JSON.parse(line), null, 2), { format: "json" })).toBe(
      JSON.stringify(JSON.parse(line), null, 2),
    );
  });

  test("a secret behind such a key is found all the same", () => {
    const line = JSON.stringify({ id: AWS, signature: GITHUB, data: `token ${GITHUB}` });
    expect(redacted(line)).toBe(
      '{"id":"[secret:aws-access-key:1]","signature":"[secret:github-token:1]","data":"token [secret:github-token:1]"}',
    );
  });

  test("a key named like a secret makes its whole value secret", () => {
    expect(redacted('{"env":{"DB_PASSWORD":"s3cr3t!","password_hint":"a b","token_count":"12 34"}}')).toBe(
      '{"env":{"DB_PASSWORD":"[secret:password:1]","password_hint":"a b","token_count":"12 34"}}',
    );
    const value = filled("{A32}", 8);
    expect(redacted(`{"env":[{"name":"API_KEY","value":"${value}"},{"name":"PORT","value":"3000"}]}`)).toBe(
      '{"env":[{"name":"API_KEY","value":"[secret:secret:1]"},{"name":"PORT","value":"3000"}]}',
    );
  });

  test("the argument behind an option", () => {
    expect(redacted('{"args":["run","--password","hunter2x","--name","hunter2x"]}')).toBe(
      '{"args":["run","--password","[secret:password:1]","--name","hunter2x"]}',
    );
  });

  test("secrets in escapes are found, and the text around them keeps its escapes", () => {
    const escaped = [...AWS].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    expect(redacted(`{"a":"\\u00e4\\n${escaped}\\t\\/","b":"\\n${GITHUB}\\n"}`)).toBe(
      '{"a":"\\u00e4\\n[secret:aws-access-key:1]\\t\\/","b":"\\n[secret:github-token:1]\\n"}',
    );
  });

  test("one JSON text over many lines is known as such", () => {
    const escaped = `\\u0041${AWS.slice(1)}`;
    expect(redacted(`{\n  "a": [\n    "${escaped}"\n  ]\n}\n`)).toBe(
      '{\n  "a": [\n    "[secret:aws-access-key:1]"\n  ]\n}\n',
    );
  });

  test("JSON in a string in JSON", () => {
    const inner = JSON.stringify({ output: JSON.stringify({ api_key: filled("{A32}", 9), n: 1 }) });
    const after = redacted(JSON.stringify({ content: inner }));
    expect(JSON.parse(JSON.parse(JSON.parse(after).content).output)).toEqual({ api_key: "[secret:secret:1]", n: 1 });
  });

  test("lines that are no JSON are read as text", () => {
    const key = filled("-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----", 1);
    expect(redacted(`{"a":1}\n${key}\n{"torn":"${GITHUB}`)).toBe(
      '{"a":1}\n[secret:private-key:1]\n{"torn":"[secret:github-token:1]',
    );
  });

  test("an unknown escape or a lone surrogate does no harm", () => {
    for (const odd of ["\\ud83d", "\\udc00\\ud83d", "\\u12", "\\x41", "\\"]) {
      const text = `{"a":"${odd} ${GITHUB}"}`;
      expect(redacted(text, { format: "jsonl" })).not.toContain(GITHUB);
    }
  });
});

describe("keys of JSON", () => {
  test("a token in a key is redacted, and its value stays", () => {
    const line = JSON.stringify({
      [`src/${GITHUB}.ts`]: "x",
      password_of_the_database_user: 1,
      DB_PASSWORD_FILE: "/run/x",
    });
    expect(redacted(line)).toBe(
      '{"src/[secret:github-token:1].ts":"x","password_of_the_database_user":1,"DB_PASSWORD_FILE":"/run/x"}',
    );
  });
});

describe("encoded", () => {
  test("base64 is replaced whole, %XX only where the secret is", () => {
    const encoded = Buffer.from(`{"token":"${GITHUB}","n":1}`).toString("base64");
    expect(redacted(`blob ${encoded} end`)).toBe("blob [secret:github-token:1] end");
    expect(redacted(`/a?x=1&q=${encodeURIComponent(`a b ${AWS} c`)}&y=2`)).toBe(
      "/a?x=1&q=a%20b%20[secret:aws-access-key:1]%20c&y=2",
    );
  });

  test("base64 of base64, of UTF-16, in lines, and behind a name", () => {
    const base64 = (text: string, encoding: "utf8" | "utf16le" = "utf8") =>
      Buffer.from(text, encoding).toString("base64");
    const text = `export GITHUB_TOKEN=${GITHUB}\nexport PORT=3000\nexport HOST=localhost\n`;
    for (const encoded of [
      base64(base64(text)),
      base64(text, "utf16le"),
      base64(text).replace(/.{60}/g, "$&\n"),
      `data/${base64(text)}`,
      JSON.stringify(base64(text).replace(/.{76}/g, "$&\n")),
    ]) {
      expect(redacted(encoded)).toContain("[secret:github-token:1]");
      expect(redacted(encoded).length).toBeLessThan(40);
    }
  });

  test("binary data and source maps stay", () => {
    const map = Buffer.from(JSON.stringify({ version: 3, sources: ["a.ts"], mappings: filled("{A400}", 1) }));
    const text = `//# sourceMappingURL=data:application/json;base64,${map.toString("base64")}`;
    expect(redacted(text)).toBe(text);
  });
});

describe("the user's own", () => {
  test("rules find more: their first group, or everything", async () => {
    const own = await createRedactor({ rules: ["ACME-[0-9]{6}", "badge=(\\w+)"] });
    const { bytes } = own.redact('{"t":"ä ACME-123456 badge=xyz"}', { placeholders: new PlaceholderTable() });
    expect(bytes.toString()).toBe('{"t":"ä [secret:custom:1] badge=[secret:custom:2]"}');
  });

  test("allowed texts stay, and so do texts that a pattern matches as a whole", async () => {
    const own = await createRedactor({ allow: [GITHUB, "AKIA.*", "(("].slice(0, 2) });
    const text = `${GITHUB} ${AWS} ${filled("ghp_{A36}", 5)}`;
    const { bytes } = own.redact(text, { placeholders: new PlaceholderTable() });
    expect(bytes.toString()).toBe(`${GITHUB} ${AWS} [secret:github-token:1]`);
  });

  test("an allowed text is literal, even if it looks like a pattern", async () => {
    const own = await createRedactor({ allow: ["P4ss+word$1!"] });
    const text = 'password="P4ss+word$1!" password="P4sss+word$1!"';
    const { bytes } = own.redact(text, { placeholders: new PlaceholderTable() });
    expect(bytes.toString()).toBe('password="P4ss+word$1!" password="[secret:password:1]"');
  });

  test("a pattern that is none is an error with its text", () => {
    expect(createRedactor({ rules: ["(?<=a)b(("] })).rejects.toThrow(/redaction\.rules: .* is not a pattern/);
  });

  test("a pattern that makes other engines hang takes no time here", async () => {
    const own = await createRedactor({ rules: ["(a+)+$"] });
    const text = `${"a".repeat(3_000)}!`;
    expect(own.redact(text, { placeholders: new PlaceholderTable() }).found).toEqual([]);
  });
});

/** Texts with secrets, quotes, escapes, placeholders and broken pieces in them. */
const pieces = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("\n", '"', "\\", "{", "}", "password=", "token: ", "[secret:password:1]", " ", "://a:", "@", "\\n"),
  fc
    .tuple(
      fc.constantFrom(...Object.values(SECRET).flat(), ...SAMPLES.map(({ text }) => text)),
      fc.nat(50),
      fc.constantFrom(
        (text: string) => text,
        (text: string) => encodeURIComponent(text),
        (text: string) => new URLSearchParams({ q: text }).toString(),
        (text: string) => Buffer.from(text).toString("base64"),
        (text: string) => Buffer.from(text, "utf16le").toString("base64"),
        (text: string) => JSON.stringify(text),
        (text: string) => text.slice(0, text.length >> 1),
        (text: string) => `${text.slice(0, text.length >> 1)}\n${text.slice(text.length >> 1)}`,
      ),
    )
    .map(([template, seed, write]) => write(filled(template, seed).replace(/[«»]/g, ""))),
);
const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(""));
const values = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, texts, fc.integer(), fc.constant(null), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(
    fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("password", "id", "data", "name", "value")),
    tie("value"),
    { maxKeys: 4 },
  ),
})).object;

describe("for any input", () => {
  test("it never grows beyond what placeholders take", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom("json", "jsonl", "text"), (text, format) => {
        const { bytes, found } = redactor.redact(text, {
          placeholders: new PlaceholderTable(),
          format: format as "json",
        });
        const placeholders = found.reduce((sum, { placeholder }) => sum + placeholder.length, 0);
        expect(bytes.length).toBeLessThanOrEqual(Buffer.byteLength(text) + placeholders);
        // Nothing shorter than a PIN is ever a secret, and no placeholder longer than 40.
        expect(bytes.length).toBeLessThanOrEqual(Buffer.byteLength(text) * 10);
        for (const { start, end, placeholder } of found) {
          expect(end - start).toBeGreaterThanOrEqual(3);
          expect(placeholder.length).toBeLessThanOrEqual(40);
        }
      }),
    );
  });

  test("JSON stays valid, and only strings that are values differ", () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(skeleton(JSON.parse(redacted(text, { again: true })))).toEqual(skeleton(JSON.parse(text)));
      }),
    );
  });

  test("the way back is exact, byte for byte", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          values.map((value) => JSON.stringify(value)),
        ),
        fc.constantFrom("json", "jsonl", "text", undefined),
        (text, format) => {
          const placeholders = new PlaceholderTable();
          const { bytes } = redactor.redact(text, { placeholders, ...(format ? { format: format as "json" } : {}) });
          expect(restorePlaceholders(bytes, placeholders).equals(Buffer.from(text))).toBe(true);
        },
      ),
    );
  });

  test("the way back is exact for bytes that are no text", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 30 }),
            texts.map((text) => Buffer.from(text)),
          ),
        ),
        (parts) => {
          const placeholders = new PlaceholderTable();
          const input = Buffer.concat(parts);
          const { bytes } = redactor.redact(input, { placeholders });
          expect(restorePlaceholders(bytes, placeholders).equals(input)).toBe(true);
        },
      ),
    );
  });

  test("redacting again changes nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          values.map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const placeholders = new PlaceholderTable();
          const once = redactor.redact(text, { placeholders }).bytes;
          expect(redactor.redact(once, { placeholders, again: true }).bytes.toString()).toBe(once.toString());
        },
      ),
      { numRuns: 500 },
    );
  });

  test("line by line gives the same as all at once", () => {
    const lines = fc.array(
      fc.oneof(
        texts,
        values.map((value) => JSON.stringify(value)),
      ),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(lines, (parts) => {
        const input = parts.join("\n");
        const whole = redactor.redact(input, { placeholders: new PlaceholderTable(), format: "jsonl" }).bytes;
        const placeholders = new PlaceholderTable();
        const pieces = input
          .split(/(?<=\n)/)
          .map((line) => redactor.redact(line, { placeholders, format: "jsonl" }).bytes);
        expect(Buffer.concat(pieces).toString()).toBe(whole.toString());
      }),
    );
  });
});

test("a hundred thousand secrets in one string", () => {
  const text = Array.from({ length: 100_000 }, (_, i) => `${filled("AKIA{T16}", i % 50)}\t`).join("");
  const { bytes, found } = redactor.redact(JSON.stringify({ text }), { placeholders: new PlaceholderTable() });
  expect(found).toHaveLength(100_000);
  expect(JSON.parse(bytes.toString()).text).not.toContain("AKIA");
});

function skeleton(value: unknown): unknown {
  if (typeof value === "string") return "";
  if (Array.isArray(value)) return value.map(skeleton);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).map(([key, inner]) => [key, skeleton(inner)]);
}

describe("lines that begin like JSON and are none", () => {
  for (const line of [`[INFO] pushed with ${GITHUB}`, `{token ${GITHUB}}`, `[sudo] "a" ${GITHUB}`]) {
    test(line.slice(0, 7), () => {
      const expected = line.replace(GITHUB, "[secret:github-token:1]");
      expect(redacted(line)).toBe(expected);
      expect(redacted(`first\n${line}\nlast`)).toBe(`first\n${expected}\nlast`);
    });
  }

  test("numbers, true, false and null are JSON", () => {
    const line = `[1.5e3, -2E5, true, false, null, {"data": "${"A".repeat(80)}", "token": "${GITHUB}"}]`;
    expect(redacted(line)).toBe(line.replace(GITHUB, "[secret:github-token:1]"));
  });
});
