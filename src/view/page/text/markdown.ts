/**
 * Reads Markdown into blocks and spans: data that a component turns into elements. No HTML is ever parsed or produced:
 * a tag in the text is text. Links keep only addresses that cannot run anything.
 */

export type Span =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis" | "strike"; spans: Span[] }
  | { kind: "link"; href: string; spans: Span[] };

export type Block =
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; head: Span[][]; rows: Span[][][] }
  | { kind: "rule" };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:-\s*){3,}$|^ {0,3}(?:\*\s*){3,}$|^ {0,3}(?:_\s*){3,}$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
/** Deeper nesting is shown as text: nothing a person wrote is that deep. */
const MAX_DEPTH = 8;

export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.split("\n"), 0);
}

/** The line of hyphens below the head of a table. */
function isTableRule(line: string): boolean {
  const cells = line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|");
  return line.includes("|") && cells.every((cell) => /^:?-+:?$/.test(cell.trim()));
}

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (line.trim() === "") at += 1;
    else if (fence) at = readFence(lines, at, fence, blocks);
    else if (heading) {
      blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, spans: parseSpans(heading[2] ?? "") });
      at += 1;
    } else if (RULE.test(line)) {
      blocks.push({ kind: "rule" });
      at += 1;
    } else if (/^ {0,3}>/.test(line) && depth < MAX_DEPTH) at = readQuote(lines, at, blocks, depth);
    else if (ITEM.test(line) && depth < MAX_DEPTH) at = readList(lines, at, blocks, depth);
    else if (line.includes("|") && isTableRule(lines[at + 1] ?? "")) at = readTable(lines, at, blocks);
    else at = readParagraph(lines, at, blocks, depth);
  }
  return blocks;
}

function readFence(lines: readonly string[], at: number, fence: RegExpExecArray, blocks: Block[]): number {
  const mark = fence[1] ?? "```";
  const body: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = (lines[next] ?? "").trim();
    if (line.startsWith(mark) && line.replaceAll(mark[0] ?? "`", "") === "") break;
    body.push(lines[next] ?? "");
  }
  blocks.push({ kind: "code", language: fence[2] ?? "", text: body.join("\n") });
  return next + 1;
}

function readQuote(lines: readonly string[], at: number, blocks: Block[], depth: number): number {
  const body: string[] = [];
  let next = at;
  for (; next < lines.length && /^ {0,3}>/.test(lines[next] ?? ""); next++)
    body.push((lines[next] ?? "").replace(/^ {0,3}> ?/, ""));
  blocks.push({ kind: "quote", blocks: parseBlocks(body, depth + 1) });
  return next;
}

function readList(lines: readonly string[], at: number, blocks: Block[], depth: number): number {
  const first = ITEM.exec(lines[at] ?? "");
  const indent = first?.[1]?.length ?? 0;
  const ordered = /\d/.test(first?.[2] ?? "");
  const items: string[][] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const item = ITEM.exec(line);
    if (item && (item[1]?.length ?? 0) <= indent + 1 && !RULE.test(line)) {
      if (/\d/.test(item[2] ?? "") !== ordered) break;
      items.push([item[4] ?? ""]);
      continue;
    }
    const body = items.at(-1);
    const isIndented = line.startsWith(" ".repeat(indent + 2)) || line.startsWith("\t");
    const afterBlank = (lines[next - 1] ?? "").trim() === "";
    if (line.trim() === "") {
      const following = lines[next + 1] ?? "";
      if (!ITEM.test(following) && !following.startsWith(" ".repeat(indent + 2))) break;
      body?.push("");
    } else if (isIndented) body?.push(line.replace(/^\t/, "").replace(new RegExp(`^ {0,${indent + 4}}`), keepDeeper));
    else if (!afterBlank && !FENCE.test(line) && !HEADING.test(line)) body?.push(line.trim());
    else break;
  }
  const start = ordered ? Number.parseInt(first?.[2] ?? "1", 10) : 1;
  blocks.push({ kind: "list", ordered, start, items: items.map((body) => parseBlocks(body, depth + 1)) });
  return next;

  /** The item's own indentation goes; deeper indentation belongs to the content. */
  function keepDeeper(spaces: string): string {
    return " ".repeat(Math.max(0, spaces.length - indent - (ordered ? 3 : 2)));
  }
}

function readTable(lines: readonly string[], at: number, blocks: Block[]): number {
  const rows: Span[][][] = [];
  let next = at + 2;
  for (; next < lines.length && (lines[next] ?? "").includes("|"); next++) rows.push(cells(lines[next] ?? ""));
  blocks.push({ kind: "table", head: cells(lines[at] ?? ""), rows });
  return next;
}

function cells(line: string): Span[][] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => parseSpans(cell.trim().replaceAll("\\|", "|")));
}

function readParagraph(lines: readonly string[], at: number, blocks: Block[], depth: number): number {
  const body: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    if (line.trim() === "") break;
    const starts = FENCE.test(line) || HEADING.test(line) || RULE.test(line) || /^ {0,3}>/.test(line);
    if (next > at && (starts || (ITEM.test(line) && depth < MAX_DEPTH))) break;
    body.push(line);
  }
  blocks.push({ kind: "paragraph", spans: parseSpans(body.join("\n")) });
  return next;
}

const SPAN =
  /(?<escape>\\[\\`*_{}[\]()#+\-.!|~<>])|(?<!`)(?<ticks>`{1,9})(?<code>[^`]|[^`].{0,1000}?[^`])\k<ticks>(?!`)|!?\[(?<label>[^[\]]{0,500})\]\((?<target>[^\s()]{1,2000})(?:\s{1,9}"[^"]{0,500}")?\)|(?<url>https?:\/\/[^\s<>"'`)\]]{1,2000})|\*\*(?<strong>(?!\s)[^*]{1,2000}?)\*\*|__(?<strong2>(?!\s)[^_]{1,2000}?)__(?!\w)|~~(?<strike>[^~]{1,2000}?)~~|\*(?<em>(?![\s*])[^*\n]{1,2000}?)\*(?!\w)|(?<![\w])_(?<em2>(?![\s_])[^_\n]{1,2000}?)_(?!\w)/gs;

/** The spans of a paragraph. Only code is read inside code, and nesting ends after a few levels. */
export function parseSpans(text: string, depth = 0): Span[] {
  if (depth > 3) return [{ kind: "text", text }];
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    if (match.index > end) spans.push({ kind: "text", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    spans.push(spanOf(match, depth));
  }
  if (end < text.length) spans.push({ kind: "text", text: text.slice(end) });
  return spans;
}

function spanOf(match: RegExpMatchArray, depth: number): Span {
  const { escape: escaped, code, label, target, url, strong, strong2, strike, em, em2 } = match.groups ?? {};
  if (escaped !== undefined) return { kind: "text", text: escaped.slice(1) };
  if (code !== undefined) return { kind: "code", text: code.trim() === "" ? code : code.trim() };
  if (url !== undefined) return link(url.replace(/(?<![.,;:!?])[.,;:!?]+$/, ""), [{ kind: "text", text: url }]);
  if (target !== undefined) return link(target, parseSpans(label === "" ? target : (label ?? ""), depth + 1));
  const inner = strong ?? strong2;
  if (inner !== undefined) return { kind: "strong", spans: parseSpans(inner, depth + 1) };
  if (strike !== undefined) return { kind: "strike", spans: parseSpans(strike, depth + 1) };
  return { kind: "emphasis", spans: parseSpans(em ?? em2 ?? "", depth + 1) };
}

/** Anything but a web or mail address is only text: it could run code, or load something. */
function link(target: string, spans: Span[]): Span {
  const href = safeAddress(target);
  return href === null ? { kind: "emphasis", spans } : { kind: "link", href, spans };
}

export function safeAddress(target: string): string | null {
  try {
    const { protocol, href } = new URL(target);
    return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? href : null;
  } catch {
    return null;
  }
}
