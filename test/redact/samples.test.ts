/** Secrets of many kinds, written in many ways: how much of each may be left, and what names of files keep. */
import { describe, expect, test } from "bun:test";
import { makeRedaction, redactSession } from "../../src/checkpoints/write/redaction.ts";
import { PlaceholderTable } from "../../src/transcripts/redact/placeholders.ts";
import { createRedactor } from "../../src/transcripts/redact/redactor.ts";
import { filled } from "./fill.ts";
import { FILE_NAMES, FORMS, type Form, isChosen, leaks, type Written, written, writtenSamples } from "./forms.ts";
import { FURTHER } from "./further-samples.ts";
import { SAMPLES, type Sample } from "./samples.ts";

const SEEDS = 6;
const redactor = await createRedactor();

/** In percent. Those that are not named here: none. */
const MAY_LEAK: Readonly<Record<string, number>> = {
  "URL-encoded": 1,
  "form-encoded": 2,
  base64: 1,
  base64url: 1,
  "base64 in lines": 1,
  "split over two lines": 25,
  "split by a backslash": 20,
};

/** The same for the further samples, of which short ones are not found in every encoded form. */
const FURTHER_MAY_LEAK: Readonly<Record<string, number>> = {
  "form-encoded": 3,
  // A name of several words is cut to its last one here.
  "JSON value under its name": 8,
  "URL-encoded": 1,
  base64: 1,
  base64url: 1,
  "base64 in lines": 1,
};

test("the samples are many, and of many kinds", () => {
  expect(SAMPLES.length).toBeGreaterThan(250);
  expect(new Set(SAMPLES.map(({ kind }) => kind)).size).toBeGreaterThan(180);
});

describe("leaks", () => {
  for (const form of FORMS) {
    test(form.name, () => {
      const { leaked, count } = leaksOf(form, ({ text }) => redacted(text));
      expect((100 * leaked.length) / count).toBeLessThanOrEqual(MAY_LEAK[form.name] ?? 0);
      if (MAY_LEAK[form.name] === undefined) expect(leaked).toEqual([]);
    });
  }

  for (const form of FORMS.filter(({ name }) => !name.startsWith("split"))) {
    test(`${form.name}, further samples`, () => {
      const { leaked, count } = leaksOf(form, ({ text }) => redacted(text), FURTHER);
      expect((100 * leaked.length) / count).toBeLessThanOrEqual(FURTHER_MAY_LEAK[form.name] ?? 0);
      if (FURTHER_MAY_LEAK[form.name] === undefined) expect(leaked).toEqual([]);
    });
  }

  test("names of files that say what they hold", () => {
    const form = FILE_NAMES.find(({ name }) => name.endsWith("context")) as Form;
    expect(leaksOf(form, ({ text }) => named(text)).leaked).toEqual([]);
  });

  /** What is left are UUIDs, which are far more often no secrets. */
  test("bare names of files, with made-up secrets", () => {
    const made = SAMPLES.filter((sample) => !isChosen(sample));
    for (const form of FILE_NAMES.slice(0, 2)) {
      const { leaked, count } = leaksOf(form, ({ text }) => named(text), made);
      expect((100 * leaked.length) / count).toBeLessThan(5);
    }
  });

  test("bare names of files, in a session in which the secret was found", () => {
    const { leaked, count } = leaksOf(FILE_NAMES[0] as Form, ({ text, plain }) => {
      const redaction = makeRedaction(redactor, new PlaceholderTable(), "");
      redaction.text(plain);
      return redaction.name(text);
    });
    expect((100 * leaked.length) / count).toBeLessThan(5);
  });
});

describe("names of files", () => {
  const TOKEN = filled("ghp_{A36}", 1);

  test("only the part that looks secret changes, and the ending stays", () => {
    expect(named(`src/backup_${TOKEN}.json`)).toBe("src/backup_[secret:github-token:1].json");
    expect(named(`keys/${filled("{A24}", 2)}/index.ts`)).toBe("keys/[secret:file-name:1]/index.ts");
    expect(named("notes/Tr0ub4dor&3.txt")).toBe("notes/[secret:file-name:1].txt");
    expect(named("conf/DB_PASSWORD=hunter2.env")).toBe("conf/DB_PASSWORD=[secret:password:1].env");
  });

  test("ordinary names stay", () => {
    for (const name of [
      "src/components/UserSettings/UserSettingsPanel.test.tsx",
      "node_modules/.pnpm/@babel+core@7.24.0/node_modules/@babel/core/lib/index.js",
      "migrations/20240115093000_add_password_reset_tokens.sql",
      "fixtures/0b9c1f0e-6b0e-4a55-9c53-0d8f1b3f8a11.json",
      "IMG_20240115_123456_HDR.jpg",
      "llvm/Support/X86DisassemblerDecoderCommon.h",
      "src/auth/passwordResetToken.ts",
      "secrets.example.yaml",
      "dist/assets/index-BxT4k2.js",
      "log4j-over-slf4j-1.7.36.jar",
      "[id]/page.tsx",
      "feature/JIRA-1234-rotate-api-keys",
    ])
      expect(named(name)).toBe(name);
  });

  test("redacting a name again changes nothing", () => {
    const placeholders = new PlaceholderTable();
    for (const sample of SAMPLES) {
      for (const form of FILE_NAMES) {
        const text = written(form, sample, 3)?.text;
        if (text === undefined) continue;
        const once = redactor.redactPath(text, { placeholders });
        expect(redactor.redactPath(once, { placeholders })).toBe(once);
      }
    }
  });

  test("a secret in a file's name is removed from the whole conversation", async () => {
    const redaction = makeRedaction(redactor, new PlaceholderTable(), "v");
    const secret = filled("{h32}", 4);
    const line = JSON.stringify({ input: { file_path: `/p/${secret}.txt` }, backups: { [`${secret}.txt`]: 1 } });
    expect(redaction.transcript(Buffer.from(line)).toString()).toBe(line);
    const result = await redactSession(redaction, [`${secret}.txt`], (own) => own.transcript(Buffer.from(line)));
    expect(JSON.parse(Buffer.from(result).toString())).toEqual({
      input: { file_path: "/p/[secret:file-name:1].txt" },
      backups: { "[secret:file-name:1].txt": 1 },
    });
  });

  test("a name that the conversation makes secret", async () => {
    const redaction = makeRedaction(redactor, new PlaceholderTable(), "v");
    const words = "the password is hunter2; I wrote it to hunter2.txt, hunter22.txt";
    const [said, name] = await redactSession(redaction, ["hunter2.txt"], (own) => [
      own.text(words),
      own.name("hunter2.txt"),
    ]);
    expect(name).toBe("[secret:password:1].txt");
    expect(said).toBe("the password is [secret:password:1]; I wrote it to [secret:password:1].txt, hunter22.txt");
  });
});

function leaksOf(
  form: Form,
  redact: (written: Written) => string,
  samples: readonly Sample[] = SAMPLES,
): { leaked: string[]; count: number } {
  const leaked: string[] = [];
  let count = 0;
  for (const [sample, text] of writtenSamples(form, samples, SEEDS)) {
    count++;
    if (leaks(redact(text), text)) leaked.push(`${sample.kind}: ${text.text}`);
  }
  return { leaked, count };
}

function redacted(text: string): string {
  return redactor.redact(text, { placeholders: new PlaceholderTable() }).bytes.toString();
}

function named(name: string): string {
  return redactor.redactPath(name, { placeholders: new PlaceholderTable() });
}
