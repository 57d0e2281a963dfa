/** Redacts the names in an export: paths, tags, branches, forks. Texts are redacted where they are read. */
import type { ExportedData } from "../protocol.ts";

/** Fields whose values are names that people chose. Excludes ids, which the page uses as keys. */
const NAMES: ReadonlySet<string> = new Set(["path", "oldPath", "paths", "files", "tags", "name", "branch", "subject"]);
/** Fields with such names whose values the page looks up. */
const EXCEPT: ReadonlySet<string> = new Set(["turn.branch"]);

export function withNames(data: ExportedData, redact: (name: string) => string): ExportedData {
  return walk(data, "", redact) as ExportedData;
}

function walk(value: unknown, field: string, redact: (name: string) => string): unknown {
  if (typeof value === "string") return NAMES.has(field) ? redact(value) : value;
  if (Array.isArray(value)) return value.map((one) => walk(one, field, redact));
  if (typeof value !== "object" || value === null) return value;
  const { kind } = value as { kind?: unknown };
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      EXCEPT.has(`${String(kind)}.${key}`) ? one : walk(one, key, redact),
    ]),
  );
}
