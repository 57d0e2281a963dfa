/** Suggests names of settings for misspelled ones. */
import { closest } from "../base/text.ts";
import { KEYS } from "./keys.ts";

/** Returns the setting for "Did you mean …" when a name is not a setting. */
export function suggestKey(name: string): string | undefined {
  const names = KEYS.map((key) => key.name);
  const near = closest(name, names);
  if (near) return near;
  // Transposed letters are the most common typo: `teir`.
  const swapped = names.find((candidate) => lettersOf(candidate) === lettersOf(name));
  if (swapped) return swapped;
  // People often remember only the last part: `max_file_size` for `capture.max_file_size`.
  const last = name.split(".").at(-1) ?? name;
  const ends = names.filter((candidate) => closest(last, [candidate.split(".").at(-1) ?? ""]) !== undefined);
  return ends.length === 1 ? ends[0] : undefined;
}

function lettersOf(text: string): string {
  return [...text].sort().join("");
}
