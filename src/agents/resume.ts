/** The command that continues a session, for a person to type. */
import type { Profile } from "./profile.ts";

/** Empty where the agent has no such command. */
export function resumeCommand(profile: Profile, sessionId: string): string {
  return (profile.resume ?? []).map((word) => quoted(word.replaceAll("{session}", sessionId))).join(" ");
}

/** The command that begins a session with what is in a file, for a person to type; empty where there is none. */
export function startCommand(profile: Profile, promptFile: string): string {
  const words = profile.start ?? [];
  return words.map((word) => (word === "{prompt}" ? `"$(cat ${quoted(promptFile)})"` : quoted(word))).join(" ");
}

/** As a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
