/** Times as a person says them. */
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

/** A moment in the user's own time zone, to the second. */
export function moment(time: string): string {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return time;
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
  return `${day} ${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
}
