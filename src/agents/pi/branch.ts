/** The active branch of a session's tree: the way from its root to the leaf. */
import { completeLines, type Line } from "../../transcripts/lines.ts";
import { placeOf } from "./lines.ts";

/** The lines of the branch that ends with entry `leaf`, in order; of the newest one where there is no such entry. */
export function branchTo(buffer: Buffer, leaf: string | null): Line[] {
  const places = new Map<string, { parentId: string | null; line: Line }>();
  let last: string | null = null;
  for (const line of completeLines(buffer)) {
    const place = placeOf(buffer, line);
    if (place === null) continue;
    places.set(place.id, { parentId: place.parentId, line });
    last = place.id;
  }
  const branch: Line[] = [];
  let at = leaf !== null && places.has(leaf) ? leaf : last;
  while (at !== null) {
    const place = places.get(at);
    if (!place) break;
    branch.push(place.line);
    // Damaged lines could lead in a circle.
    places.delete(at);
    at = place.parentId;
  }
  return branch.reverse();
}
