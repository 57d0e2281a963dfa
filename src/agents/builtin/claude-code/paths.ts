/**
 * Paths of Claude Code's transcripts: one directory per project, which contains a directory per session for the
 * transcripts of its subagents.
 */

const MAX_NAME_LENGTH = 200;

/** Replaces every character except letters and digits with a hyphen; shortens a long name and appends a hash. */
export function projectDirectoryName(directory: string): string {
  const name = directory.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH)}-${Math.abs(hash(directory)).toString(36)}`;
}

/** `<session>/subagents/agent-<id>.jsonl`, next to the session's transcript. */
export function subagentTranscript(sessionTranscript: string | null, id: string): string | null {
  if (!sessionTranscript?.endsWith(".jsonl") || !/^[A-Za-z0-9_-]{1,128}$/.test(id)) return null;
  return `${sessionTranscript.slice(0, -".jsonl".length)}/subagents/agent-${id}.jsonl`;
}

function hash(text: string): number {
  let value = 0;
  for (let i = 0; i < text.length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) | 0;
  return value;
}
