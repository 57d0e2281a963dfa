/**
 * Fills the JSON templates of a profile. A placeholder is a whole string and its value stays a value, so that nothing
 * in a title or an id can become structure.
 */
import { isRecord } from "../../base/json.ts";

export type Values = Readonly<Record<string, string | number | null>>;

export function filled(template: unknown, values: Values): unknown {
  if (typeof template === "string") return filledText(template, values);
  if (Array.isArray(template)) return template.map((part) => filled(part, values));
  if (!isRecord(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, filled(value, values)]));
}

/** `{name}` alone becomes the value itself; inside a longer text it becomes the value's text. */
function filledText(template: string, values: Values): unknown {
  const whole = /^\{([a-z_]+)\}$/.exec(template)?.[1];
  if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole];
  return template.replace(/\{([a-z_]+)\}/g, (text, name: string) =>
    Object.hasOwn(values, name) ? String(values[name] ?? "") : text,
  );
}
