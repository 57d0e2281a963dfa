/** Commands, for the user to run, that continue or start a session. */
import { isCommandWord } from "../../base/ids.ts";
import type { CommandWord, UserCommand } from "../../model/command.ts";
import type { Profile } from "../contract/profile.ts";

/** Has no steps if the agent has no such command, or if the shell or agent would not read the id as an id. */
export function resumeCommand(profile: Profile, sessionId: string): UserCommand {
  const words = profile.resume ?? [];
  if (words.some((word) => word.includes("{session}")) && !isCommandWord(sessionId)) return userCommand([]);
  return userCommand(words.map((word) => word.replaceAll("{session}", sessionId)));
}

/** The command that imports a copy of a conversation; it has no steps if the agent finds its files by itself. */
export function importCommand({ transcript }: Profile, file: string): UserCommand {
  return userCommand((transcript?.import ?? []).map((word) => word.replaceAll("{file}", file)));
}

/** The command that starts a session with the prompt in a file; it has no steps if the agent has none. */
export function startCommand(profile: Profile, promptFile: string): UserCommand {
  return userCommand((profile.start ?? []).map((word) => (word === "{prompt}" ? { file: promptFile } : word)));
}

/** One program with its arguments. */
export function userCommand(words: readonly CommandWord[]): UserCommand {
  const [program, ...args] = words;
  return { cwd: null, steps: typeof program === "string" ? [{ program, args }] : [] };
}
