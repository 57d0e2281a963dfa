/**
 * Which words are the user's. Claude Code writes much under the user's role: output of local commands,
 * notices of background tasks, marks of an interruption, the text of slash commands in tags.
 */

const INTERRUPTIONS = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];
/** A command that Claude Code runs by itself begins with its name; one that is a prompt, with its message. */
const NOT_THE_USERS = [
  "<command-name>",
  "<local-command-",
  "<bash-stdout>",
  "<bash-stderr>",
  "<system-reminder>",
  "Caveat: ",
];

/** A prompt as the user would know it again; null where the user said nothing. */
export function promptText(text: string): string | null {
  if (text.startsWith("<task-notification>")) {
    return `(background) ${tagged(text, "summary") ?? "a task finished"}`;
  }
  if (text.startsWith("<bash-input>")) return `! ${tagged(text, "bash-input") ?? ""}`;
  if (text.startsWith("<command-")) return commandText(text);
  return text.trim() === "" ? null : text;
}

/** What a user's line of the transcript says by the user; null for what machines say in the user's name. */
export function writtenByUser(text: string): string | null {
  if (text.startsWith("<task-notification>") || isInterruption(text)) return null;
  if (NOT_THE_USERS.some((beginning) => text.startsWith(beginning))) return null;
  return promptText(text);
}

export function isInterruption(text: string): boolean {
  return INTERRUPTIONS.includes(text);
}

/** `/name arguments`, as it was typed. */
function commandText(text: string): string | null {
  const name = tagged(text, "command-name");
  if (!name) return null;
  const given = tagged(text, "command-args");
  return given ? `${name} ${given}` : name;
}

function tagged(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = text.indexOf(`</${tag}>`, start);
  if (start < 0 || end < 0) return null;
  return text.slice(start + tag.length + 2, end).trim() || null;
}
