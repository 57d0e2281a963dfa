/** Merges a profile with the profile that its `like` names. */
import { isRecord } from "../../base/json.ts";

/** The base with everything that `own` says instead: tables are merged, anything else is replaced, null removes. */
export function merged(base: unknown, own: unknown): unknown {
  if (!isRecord(base) || !isRecord(own)) return own;
  const result: Record<string, unknown> = { ...base };
  // These describe the base alone.
  if ("like" in own) for (const key of PERSONAL) delete result[key];
  if ("like" in own && isRecord(result["run"])) {
    const { order: _, ...run } = result["run"];
    result["run"] = run;
  }
  for (const [key, value] of Object.entries(own)) {
    if (value === null) delete result[key];
    else result[key] = isRecord(value) && isRecord(result[key]) ? merged(result[key], value) : value;
  }
  return result;
}

const PERSONAL = ["$schema", "short_names", "former_names", "description", "preview", "cannot"];
