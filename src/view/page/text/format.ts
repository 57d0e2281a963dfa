/** Numbers, times and sizes as the page shows them. */

/** "just now", "3 min ago", "2 h ago", "yesterday", "5 days ago", "2026-01-05": as the command line says it. */
export function age(time: string | number, now: number): string {
  const then = typeof time === "number" ? time : Date.parse(time);
  if (Number.isNaN(then)) return "";
  const seconds = Math.round((now - then) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 2 * 86_400) return "yesterday";
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} days ago`;
  return new Date(then).toISOString().slice(0, 10);
}

/** "14:03" in the user's own clock. */
export function clock(time: string | null): string {
  if (time === null) return "";
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** "2026-11-18 14:03:22", for titles. */
export function moment(time: string | null): string {
  if (time === null) return "";
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : `${dayKey(time)} ${clock(time)}:${two(date.getSeconds())}`;
}

/** "2026-11-18" in the user's own calendar. */
export function dayKey(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** "Today", "Yesterday", "Mon 16 November" or "16 November 2025". */
export function dayName(key: string, now: number): string {
  const today = dayKey(new Date(now).toISOString());
  if (key === today) return "Today";
  if (key === dayKey(new Date(now - 86_400_000).toISOString())) return "Yesterday";
  const date = new Date(`${key}T12:00:00`);
  const name = `${date.getDate()} ${MONTHS[date.getMonth()] ?? ""}`;
  return key.slice(0, 4) === today.slice(0, 4) ? `${DAYS[date.getDay()]} ${name}` : `${name} ${key.slice(0, 4)}`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** "350 ms", "12 s", "3 min 20 s", "1 h 5 min". */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** "950", "12.4k", "3.1M". */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 99_950) return `${trimmed(value / 1000)}k`;
  if (value < 999_500) return `${Math.round(value / 1000)}k`;
  return `${trimmed(value / 1_000_000)}M`;
}

/** "512 B", "12.4 kB", "3.1 MB". */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${trimmed(bytes / 1000)} kB`;
  return bytes < 1e9 ? `${trimmed(bytes / 1_000_000)} MB` : `${trimmed(bytes / 1e9)} GB`;
}

/** "$0.0034", "$1.20". */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** "1 file", "3 files", "2 branches" with `many`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** "12,345". A browser's own formatter costs the first row of a list as much as all others together. */
export function grouped(value: number): string {
  const digits = String(value);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(",");
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
