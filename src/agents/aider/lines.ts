/**
 * The lines of Aider's history: `# aider chat started at …` for a session, `#### ` before each line of a prompt, `> `
 * before what it reports itself, and the model's answers as they came. Aider ends its own lines with two spaces,
 * which tells them from headings and quotations in an answer.
 */
export type HistoryLine =
  | { type: "session"; id: string }
  | { type: "prompt"; text: string }
  | { type: "report"; text: string }
  | { type: "answer"; text: string }
  | { type: "blank" };

const SESSION = /^# aider chat started at (\d{4}-\d{2}-\d{2}) (\d{2}):(\d{2}):(\d{2})/;

export function historyLine(line: string): HistoryLine {
  if (line.trim() === "") return { type: "blank" };
  const session = SESSION.exec(line);
  if (session) return { type: "session", id: `${session[1]}T${session[2]}-${session[3]}-${session[4]}` };
  const text = line.replace(/\r$/, "");
  if (!text.endsWith("  ")) return { type: "answer", text };
  if (text.startsWith("#### ")) return { type: "prompt", text: text.slice("#### ".length).trimEnd() };
  if (text.startsWith("> ")) return { type: "report", text: text.slice("> ".length).trimEnd() };
  return { type: "answer", text };
}

/** Commands that only change what Aider looks at or shows: nothing is asked of it. */
const SETTINGS =
  /^\/(?:add|drop|read-only|ls|tokens|help|settings|model|weak-model|editor-model|models|clear|reset|map|map-refresh|multiline-mode|copy|copy-context|report|save|load|chat-mode|think-tokens|reasoning-effort|exit|quit)(?:\s|$)/;

/** Whether the user wants something done. */
export function isRequest(prompt: string): boolean {
  return prompt !== "" && prompt !== "<blank>" && !SETTINGS.test(prompt);
}
