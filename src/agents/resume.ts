/** The command that continues a session, for a person to type. */
import type { Profile } from "./profile.ts";

/** Empty where the agent has no such command. */
export function resumeCommand(profile: Profile, sessionId: string): string {
  return (profile.resume ?? []).map((word) => quoted(word.replaceAll("{session}", sessionId))).join(" ");
}

/** As a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
