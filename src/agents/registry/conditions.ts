/** Decides whether a value meets the conditions of a profile. */
import type { Condition, Conditions, Scalar } from "../contract/profile.ts";
import { valueAt } from "./paths.ts";
import { matches } from "./regex.ts";

/** True if all conditions hold. Null also matches a missing path. */
export function holds(conditions: Conditions | undefined, value: unknown): boolean {
  if (conditions === undefined) return true;
  for (const path in conditions) {
    const wanted = conditions[path];
    if (wanted !== undefined && !meets(wanted, valueAt(value, path))) return false;
  }
  return true;
}

function meets(wanted: Condition, found: unknown): boolean {
  if (wanted === null || typeof wanted !== "object") return (found ?? null) === wanted;
  if (Array.isArray(wanted)) return wanted.includes((found ?? null) as Scalar);
  const { exists, not, matches: pattern } = wanted;
  if (exists !== undefined && exists !== (found !== undefined && found !== null)) return false;
  if (not !== undefined && meets(not, found)) return false;
  return pattern === undefined || (typeof found === "string" && matches(pattern, found));
}
