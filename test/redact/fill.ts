/**
 * Makes up secrets: `{A36}` becomes 36 random letters and digits, `{m12}` 12 words. The corpus has only such patterns in it, so that
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
  H: "0123456789ABCDEF",
};
/** Some of the words that recovery phrases of wallets are made of. */
const WORDS =
  "legal winner thank year wave sausage worth useful abandon ability zoo wrong letter advice cage absurd amount doctor acoustic avoid hamster diagram purchase omit trust scheme gravity bacon kangaroo oxygen velvet ginger puzzle tornado unveil whisper cactus jungle marble noble orbit";

/** The same for the same seed. */
export function filled(template: string, seed: number): string {
  const random = generator(seed);
  return template.replace(/\{([AaUTldhHwbm])(\d+)\}/g, (_all, kind: string, count: string) => {
    const alphabet = kind === "m" ? WORDS.split(" ") : (ALPHABETS[kind] ?? "");
    const parts = Array.from({ length: Number(count) }, () => alphabet[Math.floor(random() * alphabet.length)]);
    return parts.join(kind === "m" ? " " : "");
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
