/** Added and deleted lines: "+12 −3". */
export function LineSum({ added, deleted }: { added: number; deleted: number }) {
  if (added + deleted === 0) return null;
  return (
    <span class="sum">
      {added > 0 && <span class="plus">+{added.toLocaleString("en-US")}</span>}
      {deleted > 0 && <span class="minus">−{deleted.toLocaleString("en-US")}</span>}
    </span>
  );
}
