/** The current time. `BACKTRAIL_CLOCK` (an ISO time) fixes it, so that journeys print the same every day. */
export function now(): Date {
  const fixed = process.env["BACKTRAIL_CLOCK"];
  if (fixed) {
    const date = new Date(fixed);
    if (!Number.isNaN(date.getTime())) return date;
  }
  return new Date();
}
