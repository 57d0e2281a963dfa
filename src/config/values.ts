/** Parses a setting's value from JSON or from text (environment, command line), and formats it as text. */
import { shorten } from "../base/text.ts";
import type { Key } from "./keys.ts";
import type { ExpectedValue, WrongValue } from "./problems.ts";

export type Parsed = { value: unknown } | { wrong: WrongValue };

/** More than a person would write, or read in a message. */
const MAX_LEVELS = 16;
const MAX_SHOWN = 60;

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

export function parseJsonValue(key: Key, value: unknown): Parsed {
  switch (key.kind) {
    case "boolean":
      return typeof value === "boolean" ? { value } : wrong("boolean", value);
    case "text":
      return typeof value === "string" && value !== "" ? chosen(key, value) : wrong("text", value);
    case "number":
      return numeric(key, value, "number");
    case "size":
      if (typeof value === "string") {
        const bytes = parseSize(value);
        return bytes === undefined ? wrong("size", value) : { value: bytes };
      }
      return numeric(key, value, "size");
    case "list":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? { value: value as string[] }
        : wrong("list", value);
    case "rules":
      return typeof value === "object" && value !== null ? { value } : wrong("rules", value);
  }
}

/** Parses text from the command line or the environment. Lists may be JSON or comma-separated. */
export function parseTextValue(key: Key, text: string): Parsed {
  switch (key.kind) {
    case "boolean": {
      const word = text.toLowerCase();
      if (["true", "1", "yes", "on"].includes(word)) return { value: true };
      if (["false", "0", "no", "off"].includes(word)) return { value: false };
      return wrong("boolean", text);
    }
    case "text":
      return parseJsonValue(key, text);
    case "number":
      return /^\d+$/.test(text) ? numeric(key, Number(text), "number") : wrong("number", text);
    case "size":
      return parseJsonValue(key, text);
    case "list":
      if (text.trimStart().startsWith("[")) return parsedAsJson(key, text);
      return {
        value: text
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      };
    case "rules":
      return parsedAsJson(key, text);
  }
}

/** "50 MB" → 50,000,000; "1 GiB" → 1,073,741,824; undefined if the text is not a size. */
export function parseSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "-"];
  if (!match?.[1] || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats a size exactly ("50 MB", "1 GiB") if possible, otherwise with one decimal. */
export function showSize(bytes: number): string {
  for (const [unit, size] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["GB", 1e9],
    ["MB", 1e6],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  }
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const) {
    if (bytes >= size) return `${(bytes / size).toFixed(1)} ${unit}`;
  }
  return `${bytes} B`;
}

export function showValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function parsedAsJson(key: Key, text: string): Parsed {
  try {
    return parseJsonValue(key, JSON.parse(text));
  } catch {
    return wrong("json", text);
  }
}

function chosen(key: Key, value: string): Parsed {
  if (!key.choices || key.choices.includes(value)) return { value };
  return wrong({ kind: "choice", choices: key.choices }, value);
}

function numeric(key: Key, value: unknown, expected: "number" | "size"): Parsed {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) return wrong(expected, value);
  if (key.least !== undefined && value < key.least) return wrong({ kind: "minimum", minimum: key.least }, value);
  return { value };
}

type ExpectedKind = Exclude<ExpectedValue["kind"], "choice" | "minimum">;

function wrong(expected: ExpectedValue | ExpectedKind, found: unknown): Parsed {
  const kind = typeof expected === "string" ? { kind: expected } : expected;
  return { wrong: { kind: "value-unexpected", expected: kind, found: shortJson(found) } };
}

/** JSON.stringify takes seconds to fail for a value with a hundred thousand levels, and hooks load settings. */
function shortJson(value: unknown): WrongValue["found"] {
  if (isDeeper(value, MAX_LEVELS)) return { deep: Array.isArray(value) ? "list" : "object" };
  return shorten(JSON.stringify(value) ?? String(value), MAX_SHOWN);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
