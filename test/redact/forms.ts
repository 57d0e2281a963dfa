/** The ways in which one secret can be written, and whether something of it is left after redaction. */
import { filled } from "./fill.ts";
import type { Sample } from "./samples.ts";

export interface Written {
  text: string;
  /** None of these may be left. */
  secrets: string[];
  /** The sample as it is, for a form that does not have all of it. */
  plain: string;
}

export interface Form {
  name: string;
  /** Undefined where the sample can't be written so. */
  write(before: string, secret: string, after: string): Omit<Written, "plain"> | undefined;
}

const MIN_PART = 6;
const MAX_FILE_NAME = 200;

export const FORMS: readonly Form[] = [
  { name: "plain text", write: (before, secret, after) => plain(before + secret + after, secret) },
  {
    name: "JSON value",
    write: (...parts) =>
      inJson((text) => JSON.stringify({ type: "user", message: { role: "user", content: text } }), parts, 1),
  },
  { name: "JSON value under its name", write: underItsName },
  {
    name: "tool result",
    write: (...parts) => inJson(toolResult, parts, 1),
  },
  {
    name: "JSON in JSON",
    write: (...parts) => inJson((text) => JSON.stringify({ output: JSON.stringify({ stdout: text }) }), parts, 2),
  },
  {
    name: "JSON in JSON in JSON",
    write: (...parts) =>
      inJson((text) => JSON.stringify({ a: JSON.stringify({ output: JSON.stringify({ stdout: text }) }) }), parts, 3),
  },
  {
    name: "JSON in text",
    write: (...parts) => inJson((text) => `curl said: ${JSON.stringify({ result: text })}\nand ended`, parts, 1),
  },
  {
    name: "URL-encoded",
    write: (before, secret, after) =>
      plain(`GET /search?q=${encodeURIComponent(before + secret + after)}&page=1`, encodeURIComponent(secret)),
  },
  {
    name: "form-encoded",
    write: (before, secret, after) => {
      const form = (text: string) => new URLSearchParams({ q: text }).toString().slice(2);
      return plain(`--data 'q=${form(before + secret + after)}'`, form(secret));
    },
  },
  {
    name: "base64",
    write: (before, secret, after) => encoded(Buffer.from(before + secret + after).toString("base64")),
  },
  {
    name: "base64url",
    write: (before, secret, after) => encoded(Buffer.from(before + secret + after).toString("base64url")),
  },
  {
    name: "base64 in lines",
    write: (before, secret, after) =>
      encoded(
        Buffer.from(before + secret + after)
          .toString("base64")
          .replace(/.{76}(?=.)/g, "$&\n"),
      ),
  },
  { name: "split over two lines", write: (before, secret, after) => split(before, secret, after, "\n") },
  { name: "split by a backslash", write: (before, secret, after) => split(before, secret, after, "\\\n") },
];

/** As a file's name, which `redactPath` takes. */
export const FILE_NAMES: readonly Form[] = [
  { name: "file name", write: (_before, secret) => fileName(secret, (name) => `${name}.txt`) },
  {
    name: "file name, in a word",
    write: (_before, secret) => fileName(secret, (name) => `src/backup-${name}/index.ts`),
  },
  {
    name: "file name, with its context",
    write: (before, secret, after) =>
      (before + after).includes("\n") ? undefined : fileName(secret, () => before + secret + after),
  },
];

export function written(form: Form, sample: Sample, seed: number): Written | undefined {
  const [before = "", secret = "", after = ""] = filled(sample.text, seed).split(/[«»]/);
  const text = form.write(before, secret, after);
  return text && { ...text, plain: before + secret + after };
}

/** Whether somebody chose the secret, so that by itself it is a word like any other. */
export function isChosen({ text }: Sample): boolean {
  return !/«[^»]*\{/.test(text) || /«\{m\d+\}»/.test(text);
}

export function leaks(after: string, { secrets }: Written): boolean {
  return secrets.some((secret) => after.includes(secret));
}

/** A key's lines count each for itself. */
function plain(text: string, secret: string): Omit<Written, "plain"> {
  return { text, secrets: secret.split("\n").filter((line) => line.length >= 4) };
}

function inJson(
  make: (text: string) => string,
  [before, secret, after]: [string, string, string],
  depth: number,
): Omit<Written, "plain"> {
  const escaped = (text: string) => {
    let result = text;
    for (let i = 0; i < depth; i++) result = JSON.stringify(result).slice(1, -1);
    return result;
  };
  return { text: make(before + secret + after), secrets: plain("", secret).secrets.map(escaped) };
}

function toolResult(text: string): string {
  const content = `$ run\n${text}\nexit status 0\n`;
  return JSON.stringify({
    type: "user",
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_01A", content: [{ type: "text", text: content }] }],
    },
    toolUseResult: { stdout: content, stderr: "", interrupted: false },
  });
}

/** `NAME=value` and the like, as settings in JSON have it. */
function underItsName(before: string, secret: string): Omit<Written, "plain"> | undefined {
  const name = /(?:^|[\s"'(])([A-Za-z_][\w.-]*)["']?\s*(?:=|:)\s*["']?$/.exec(before)?.[1];
  if (name === undefined || secret.includes("\n") || !SAYS_SO.test(name)) return undefined;
  return {
    text: JSON.stringify({ env: { PORT: "3000", [name]: secret } }),
    secrets: [JSON.stringify(secret).slice(1, -1)],
  };
}

const SAYS_SO = /pass|pwd|pw$|key|secret|token|auth|sessid|sid$|salt|pepper|pin$|psk/i;

function encoded(text: string): Omit<Written, "plain"> {
  const lines = text.split("\n");
  return {
    text: `echo ${text} | base64 -d`,
    secrets: lines.map((line) => line.replace(/=+$/, "")).filter((line) => line.length >= MIN_PART),
  };
}

function split(before: string, secret: string, after: string, by: string): Omit<Written, "plain"> | undefined {
  if (secret.includes("\n") || secret.length < MIN_PART * 2) return undefined;
  const middle = secret.length >> 1;
  const halves = [secret.slice(0, middle), secret.slice(middle)];
  return { text: before + halves.join(by) + after, secrets: halves };
}

function fileName(secret: string, name: (secret: string) => string): Omit<Written, "plain"> | undefined {
  if (/[/\n]/.test(secret) || Buffer.byteLength(name(secret)) > MAX_FILE_NAME) return undefined;
  return { text: name(secret).replaceAll("\n", " "), secrets: [secret] };
}

/** Every sample in one form, with as many values each; nothing where a sample has no such form. */
export function* writtenSamples(form: Form, samples: readonly Sample[], seeds: number): Iterable<[Sample, Written]> {
  for (const sample of samples) {
    for (let seed = 0; seed < seeds; seed++) {
      const text = written(form, sample, seed);
      if (text) yield [sample, text];
    }
  }
}
