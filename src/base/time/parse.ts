/** Parses times as users type them: "2 hours ago", "2d", "yesterday", "monday", a date, an ISO 8601 time. */
import { BaseError } from "../problems.ts";

const SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400, week: 604_800 };
const SHORT_UNITS: Readonly<Record<string, string>> = {
  s: "second",
  sec: "second",
  m: "minute",
  min: "minute",
  h: "hour",
  d: "day",
  w: "week",
};
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const DAY_MS = 86_400_000;

/**
 * Resolves a day to its first or last moment in the user's time zone. Unlike git, which treats any unknown word as the
 * current time, this rejects text that is not a time.
 */
export function parseTime(text: string, now: Date, edge: "first" | "last"): Date {
  const words = text.trim().toLowerCase().replace(/\s+/g, " ");
  const found = words === "now" ? now : (timeAgo(words, now) ?? wholeDay(words, now, edge) ?? exactTime(text.trim()));
  if (found) return found;
  throw new BaseError("usage", { kind: "not-a-date", text });
}

/** "2d", "90 min", "2 hours ago", "an hour ago", "last week". */
function timeAgo(words: string, now: Date): Date | undefined {
  const match = /^(?:(\d{1,6})|(an?|last)) ?([a-z]+?)(s? ago)?$/.exec(words.replace(/^last (\S+)$/, "1 $1 ago"));
  if (!match) return undefined;
  const [, digits, article, name = "", ago] = match;
  // Without "ago", only short forms are times: "2 hours" alone is ambiguous.
  const unit = ago === undefined ? SHORT_UNITS[name] : (SHORT_UNITS[name] ?? name);
  if (unit === undefined || (article !== undefined && ago === undefined)) return undefined;
  return before(now, digits === undefined ? 1 : Number(digits), unit);
}

function before(now: Date, count: number, unit: string): Date | undefined {
  const seconds = Object.hasOwn(SECONDS, unit) ? SECONDS[unit] : undefined;
  if (seconds !== undefined) return new Date(now.getTime() - count * seconds * 1000);
  if (unit !== "month" && unit !== "year") return undefined;
  const months = now.getMonth() - count * (unit === "year" ? 12 : 1);
  const lastDay = new Date(now.getFullYear(), months + 1, 0).getDate();
  const then = new Date(now);
  // One month before March 31 is the end of February, not the beginning of March.
  then.setFullYear(now.getFullYear(), months, Math.min(now.getDate(), lastDay));
  return then;
}

function wholeDay(words: string, now: Date, edge: "first" | "last"): Date | undefined {
  const first = firstMoment(words, now);
  return edge === "first" || !first ? first : new Date(first.getTime() + DAY_MS - 1);
}

function firstMoment(words: string, now: Date): Date | undefined {
  const daysAgo = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  if (words === "today") return daysAgo(0);
  if (words === "yesterday") return daysAgo(1);
  const weekday = WEEKDAYS.findIndex((name) => name === words || name.slice(0, 3) === words);
  // On a Monday, "monday" is the one a week ago, as in git.
  if (weekday >= 0) return daysAgo((now.getDay() - weekday + 7) % 7 || 7);
  const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(words);
  if (!date) return undefined;
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
  const first = new Date(year, month - 1, day);
  return first.getMonth() === month - 1 && first.getDate() === day ? first : undefined;
}

function exactTime(text: string): Date | undefined {
  const time = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
