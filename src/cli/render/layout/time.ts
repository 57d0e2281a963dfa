/** Formats times for people. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "just now", "3 min ago", "2 h ago", "yesterday", "5 days ago", "2026-01-05". */
export function age(time: string, now: Date): string {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return "at an unknown time";
  const seconds = Math.round((now.getTime() - then.getTime()) / 1000);
  if (seconds < -MINUTE) return then.toISOString().slice(0, 10);
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  if (seconds < 2 * DAY) return "yesterday";
  if (seconds < 30 * DAY) return `${Math.floor(seconds / DAY)} days ago`;
  return then.toISOString().slice(0, 10);
}

/** "now", "in 5 min", "in 3 h", "in 2 days". */
export function until(time: string, now: Date): string {
  const seconds = Math.round((new Date(time).getTime() - now.getTime()) / 1000);
  if (!(seconds >= MINUTE / 2)) return "now";
  if (seconds < HOUR) return `in ${Math.max(1, Math.round(seconds / MINUTE))} min`;
  if (seconds < DAY) return `in ${Math.round(seconds / HOUR)} h`;
  return `in ${Math.round(seconds / DAY)} days`;
}

/** "14:02" on the day of `now`, "2026-01-05 14:02" on other days, in the user's time zone. */
export function clockTime(time: string, now: Date): string {
  const text = moment(time);
  const [day, clock] = text.split(" ");
  if (clock === undefined) return text;
  return day === moment(now.toISOString()).split(" ")[0] ? clock.slice(0, 5) : text.slice(0, 16);
}

/** A time in the user's time zone, to the second. */
export function moment(time: string): string {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return time;
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
  return `${day} ${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
}
