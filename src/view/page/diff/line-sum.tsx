/** The sum of a diff's lines. */
import { grouped } from "../text/format.ts";

/** Added and deleted lines: "+12 −3". */
export function LineSum({ added, deleted }: { added: number; deleted: number }) {
  if (added + deleted === 0) return null;
  return (
    <span class="sum">
      {added > 0 && <span class="plus">+{grouped(added)}</span>}
      {deleted > 0 && <span class="minus">−{grouped(deleted)}</span>}
    </span>
  );
}
