/** Renders the sessions that are still open in a restored work tree, and the user's options. */
import { oneLine, shorten, shortSession } from "../../../base/text.ts";
import type { OpenSession, Receipt } from "../../../restore/types.ts";
import type { Paint } from "../../terminal/io.ts";
import { wrapAfter } from "../layout/text.ts";

const SHOWN_SESSIONS = 5;
const TITLE_LENGTH = 60;

/** An open agent does not notice the restore, unless someone informs it. */
export function openSessionLines({ openSessions, chat }: Receipt, paint: Paint, columns: number): string[] {
  if (openSessions.length === 0) return [];
  const listed = openSessions.slice(0, SHOWN_SESSIONS);
  const more = openSessions.length - listed.length;
  // A redo continues the conversation that is open.
  const isOther = chat !== null && !openSessions.some(({ session }) => session === chat.session);
  const close = isOther
    ? ["To continue the restored conversation instead, close the session and run the command above."]
    : [];
  return [
    "",
    `${paint("yellow", "Still open in this work tree:")}`,
    ...listed.flatMap((session) => wrapAfter("  ", openSessionLine(session), columns)),
    ...(more > 0 ? [`  and ${more} more (--json lists them all)`] : []),
    ...close,
  ];
}

function openSessionLine({ name, session, title, working, notified }: OpenSession): string {
  const what = title === null ? shortSession(session) : `"${shorten(oneLine(title), TITLE_LENGTH)}"`;
  const stop = working ? "It is working: interrupt it first. " : "";
  const told = notified
    ? "Your next prompt there tells the agent what was restored."
    : "The agent does not know: tell it to read the files again.";
  return `${oneLine(name)} ${what}. ${stop}${told}`;
}
