/**
 * Makes up secrets: `{A36}` becomes 36 random letters and digits. The corpus has only such patterns in it, so that
 * nothing that looks like a real secret is stored in the repository.
 */
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const ALPHABETS: Record<string, string> = {
  A: `${SMALL}${SMALL.toUpperCase()}0123456789`,
  a: `${SMALL}0123456789`,
  U: `${SMALL.toUpperCase()}0123456789`,
  T: `${SMALL.toUpperCase()}234567`,
  l: SMALL,
  d: "0123456789",
  h: "0123456789abcdef",
  w: `${SMALL}${SMALL.toUpperCase()}0123456789_-`,
  b: `${SMALL}${SMALL.toUpperCase()}0123456789+/`,
};

/** The same for the same seed. */
export function filled(template: string, seed: number): string {
  const random = generator(seed);
  return template.replace(/\{([AaUTldhwb])(\d+)\}/g, (_all, kind: string, count: string) => {
    const alphabet = ALPHABETS[kind] ?? "";
    return Array.from({ length: Number(count) }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  });
}

/** mulberry32 */
function generator(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
