/** Formats tokens, money and durations for people. */
import type { Cost } from "../../../transcripts/prices.ts";

export function thousands(count: number): string {
  return count < 10_000 ? String(count) : `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
}

/** Rounds to the cent; small amounts keep more digits. */
function dollars(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

/** "~ $0.12" is an estimate, "$0.12" is what the agent reported. */
export function costWords(cost: Cost | null): string {
  if (cost === null) return "unknown";
  return `${cost.estimated ? "~ " : ""}${dollars(cost.usd)}`;
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min" */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
