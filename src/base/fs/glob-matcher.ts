/**
 * Matches globs without Bun: `*` and `?` within a name, `**` across names, `[…]`, `{…}`, `\` as escape, and a leading
 * `!` as negation. Patterns may come from an untrusted repository, so matching never takes exponential time.
 */
const MAX_ALTERNATIVES = 1_000;

type Token = { kind: "text"; text: string } | { kind: "one" } | { kind: "any" } | CharacterClass;

interface CharacterClass {
  kind: "class";
  negated: boolean;
  ranges: [from: string, to: string][];
}

type Segment = "**" | Token[];

export function compileGlob(pattern: string): (path: string) => boolean {
  const positive = pattern.replace(/^!+/, "");
  const isNegated = (pattern.length - positive.length) % 2 === 1;
  const alternatives = expandBraces(positive).map(parsePath);
  return (path) => {
    const names = path.split("/").map((name) => [...name]);
    return alternatives.some((segments) => matchesPath(segments, names)) !== isNegated;
  };
}

/** Expands `{a,b}c` to `ac` and `bc`. Unpaired braces are literal. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = done.length + waiting.length < MAX_ALTERNATIVES ? firstGroup(next) : undefined;
    if (!group) {
      done.push(next);
      continue;
    }
    const [before, after] = [next.slice(0, group.start), next.slice(group.end + 1)];
    waiting.push(...group.choices.map((choice) => before + choice + after));
  }
  return done;
}

function firstGroup(pattern: string): { start: number; end: number; choices: string[] } | undefined {
  let start = -1;
  let depth = 0;
  let cuts: number[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "\\") i++;
    else if (character === "{" && depth++ === 0) {
      start = i;
      cuts = [i];
    } else if (character === "," && depth === 1) cuts.push(i);
    else if (character === "}" && depth > 0 && --depth === 0) {
      const choices = cuts.map((cut, at) => pattern.slice(cut + 1, cuts[at + 1] ?? i));
      return { start, end: i, choices };
    }
  }
  return undefined;
}

/** Merges consecutive `**` into one. */
function parsePath(pattern: string): Segment[] {
  const texts = pattern.split("/").filter((text, i, all) => text !== "**" || all[i - 1] !== "**");
  return texts.map(parseSegment);
}

function parseSegment(text: string): Segment {
  if (text === "**") return "**";
  const characters = [...text];
  const tokens: Token[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    const found = character === "[" ? parseClass(characters, i) : undefined;
    if (found) {
      tokens.push(found.token);
      i = found.end;
    } else if (character === "*") {
      if (tokens.at(-1)?.kind !== "any") tokens.push({ kind: "any" });
    } else if (character === "?") tokens.push({ kind: "one" });
    else if (character === "\\" && i + 1 < characters.length)
      tokens.push({ kind: "text", text: characters[++i] ?? "" });
    else tokens.push({ kind: "text", text: character });
  }
  return tokens;
}

/** Returns undefined if the bracket is never closed and therefore literal. */
function parseClass(characters: readonly string[], start: number): { token: CharacterClass; end: number } | undefined {
  let i = start + 1;
  const negated = characters[i] === "!" || characters[i] === "^";
  if (negated) i++;
  const ranges: CharacterClass["ranges"] = [];
  for (let isFirst = true; i < characters.length; i++, isFirst = false) {
    if (characters[i] === "]" && !isFirst) return { token: { kind: "class", negated, ranges }, end: i };
    if (characters[i] === "\\" && i + 1 < characters.length) i++;
    const from = characters[i] ?? "";
    const isRange = characters[i + 1] === "-" && characters[i + 2] !== undefined && characters[i + 2] !== "]";
    ranges.push([from, isRange ? (characters[i + 2] ?? "") : from]);
    if (isRange) i += 2;
  }
  return undefined;
}

/** Greedy: backtracking to the last `**` suffices, since any match of an earlier one can be moved there. */
function matchesPath(segments: readonly Segment[], names: readonly string[][]): boolean {
  // A trailing `**` matches at least one name: `a/**` matches everything below `a`.
  if (segments.at(-1) === "**") {
    const above = segments.slice(0, -1);
    if (above.length === 0) return true;
    return names.some((_, count) => count > 0 && matchesPath(above, names.slice(0, count)));
  }
  let [segment, name, lastStar, resume] = [0, 0, -1, 0];
  while (name < names.length) {
    const wanted = segments[segment];
    if (wanted === "**") {
      lastStar = segment++;
      resume = name;
    } else if (wanted !== undefined && matchesName(wanted, names[name] ?? [])) {
      segment++;
      name++;
    } else if (lastStar >= 0) {
      segment = lastStar + 1;
      name = ++resume;
    } else return false;
  }
  while (segments[segment] === "**") segment++;
  return segment === segments.length;
}

function matchesName(tokens: readonly Token[], name: readonly string[]): boolean {
  let [token, at, lastStar, resume] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted?.kind === "any") {
      lastStar = token++;
      resume = at;
    } else if (wanted && matchesCharacter(wanted, name[at] ?? "")) {
      token++;
      at++;
    } else if (lastStar >= 0) {
      token = lastStar + 1;
      at = ++resume;
    } else return false;
  }
  while (tokens[token]?.kind === "any") token++;
  return token === tokens.length;
}

function matchesCharacter(token: Token, character: string): boolean {
  if (token.kind === "text") return token.text === character;
  if (token.kind !== "class") return true;
  return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.negated;
}
