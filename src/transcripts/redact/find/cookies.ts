/** Finds session cookies: `Cookie: session=…`, `Set-Cookie: sid=…`, `cookies={'session': '…'}`. */
import type { Span } from "./blocks.ts";
import { entropyOf, isStandIn, isWordy, makeOf } from "./value.ts";

const MAX_HEADER = 4096;

/**
 * The text between the word and the first cookie: `Cookie: `, `Set-Cookie": "`, `cookies={`, `document.cookie = '`,
 * `--cookie "`.
 */
const TO_COOKIES = /^s?(?:\\*["'])?\]?(?: ?(?:=|:|=>|,)|(?= ["'\w]+=)) ?(?:\{\s*)?(?:\\*["'`])?/i;
/** `name=value` of a header, or `'name': 'value'` of an object. */
const COOKIE =
  /([\w.$%-]{1,64})(?:=|\\{0,7}["'] ?(?::|=>) ?\\{0,7}["'])([^;,\s"'\\{}<>]{1,2000})(\\{0,7}["'] ?, ?\\{0,7}["'])?;?/y;
/** Attributes for the browser, and cookies that only count visitors. */
const HARMLESS =
  /^(?:path|domain|expires|max-age|samesite|priority|version|secure|httponly|partitioned|_ga\w*|_gid|_gat\w*|_fbp|_fbc|__utm\w|_hj\w*|_cl\w*|amp_\w*|ajs_\w*|optimizely\w*|locale|lang|language|theme|tz|timezone|consent\w*|cookieconsent\w*)$/i;
const LOGS_IN = /sess|sid|auth|token|csrf|xsrf|login|remember|jwt|sso|ident|user|key|secret|id$|^li_at$|^xs$|^c_user$/i;

/** The values of the cookies after the word "cookie" that ends at `end`, and where they end. */
export function cookiesAfter(bytes: Buffer, end: number, to: number): { spans: Span[]; end: number } {
  const head = bytes.toString("latin1", end, Math.min(to, end + 24));
  const match = TO_COOKIES.exec(head);
  if (!match || match[0] === "" || match[0] === "s") return { spans: [], end };
  return cookiesIn(bytes, end + match[0].length, to);
}

/** The values of a `Cookie` header that begins at `from`, and where it ends. */
export function cookiesIn(bytes: Buffer, from: number, to: number): { spans: Span[]; end: number } {
  const text = bytes.toString("latin1", from, Math.min(to, from + MAX_HEADER));
  const spans: Span[] = [];
  let at = 0;
  for (;;) {
    while (text[at] === " ") at++;
    COOKIE.lastIndex = at;
    const match = COOKIE.exec(text);
    // Skip attributes without a value (`HttpOnly;`).
    const bare = match ? undefined : /^[\w-]{1,20};/.exec(text.slice(at, at + 24));
    if (!match && !bare) return { spans, end: from + at };
    if (match) {
      const [all, name = "", value = "", join = ""] = match;
      const behind = all.endsWith(";") ? 1 : 0;
      const end = from + at + all.length - join.length - behind;
      if (isSecret(name, value, bytes, end - value.length, end)) spans.push({ start: end - value.length, end });
    }
    at += (match ?? bare)?.[0].length ?? 0;
  }
}

function isSecret(name: string, value: string, bytes: Buffer, start: number, end: number): boolean {
  if (HARMLESS.test(name) || isStandIn(value)) return false;
  const make = makeOf(bytes, start, end);
  if (isWordy(value) || make.small + make.capitals === 0) return false;
  if (LOGS_IN.test(name)) return make.length >= 10 && make.digits > 0 && entropyOf(bytes, start, end) >= 2.8;
  return make.length >= 20 && make.digits >= 2 && entropyOf(bytes, start, end) >= 3.2;
}
