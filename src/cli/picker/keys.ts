/** What keys do in every picker: they edit the query, and stop. */

export interface Key {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
  sequence?: string;
}

const PAGE = 10;

export function isCancel({ name = "", ctrl = false }: Key): boolean {
  return name === "escape" || (ctrl && (name === "c" || name === "d" || name === "g"));
}

/** How far the cursor moves; undefined if the key doesn't move it. */
export function movement({ name = "", ctrl = false }: Key): number | undefined {
  if (name === "up" || (ctrl && name === "p")) return -1;
  if (name === "down" || (ctrl && name === "n")) return 1;
  if (name === "pageup") return -PAGE;
  if (name === "pagedown") return PAGE;
  if (name === "home") return Number.NEGATIVE_INFINITY;
  return name === "end" ? Number.POSITIVE_INFINITY : undefined;
}

/** The query after the key; undefined if the key doesn't edit. */
export function edited(
  query: string,
  { name = "", ctrl = false, meta = false, sequence = "" }: Key,
): string | undefined {
  if (name === "backspace") return [...query].slice(0, -1).join("");
  if (ctrl && name === "u") return "";
  if (ctrl && name === "w") return query.slice(0, query.trimEnd().lastIndexOf(" ") + 1);
  return ctrl || meta || !isText(sequence) ? undefined : query + sequence;
}

function isText(sequence: string): boolean {
  return sequence !== "" && !/\p{Cc}/u.test(sequence);
}
