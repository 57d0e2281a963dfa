/**
 * Decides from its headers whether a request may be answered at all. A page of another site can reach a server on
 * loopback: by DNS rebinding (wrong Host), by a request from its own origin (wrong Origin, Sec-Fetch-Site), by a form
 * (wrong content type), or by embedding (Sec-Fetch-Dest). Each of these is refused before anything else is looked at.
 */
export type RequestKind =
  /** The page and its files, which hold no data of the user's. */
  "page" | "query" | "command";

export interface Refusal {
  status: 400 | 403 | 405 | 413 | 414 | 415;
  message: string;
}

const MAX_URL = 8 * 1024;
/** Destinations for which browsers fetch the page and its files. No frame, no embedded object, no image. */
const PAGE_DESTINATIONS = new Set(["document", "script", "style", "empty"]);

/** The only values of `Host` that reach an answer. */
export function allowedHosts(port: number): ReadonlySet<string> {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  // Browsers leave the default port out.
  return new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));
}

export function refusalOf(
  { method, url, headers }: Pick<Request, "method" | "url" | "headers">,
  kind: RequestKind,
  hosts: ReadonlySet<string>,
  scheme: "http" | "https" = "http",
): Refusal | null {
  const host = headers.get("host");
  if (host === null || !hosts.has(host)) return { status: 403, message: "This host name is not allowed." };
  if (headers.has("upgrade")) return { status: 400, message: "Connections can't be upgraded." };
  if (url.length > MAX_URL) return { status: 414, message: "The address is too long." };
  const site = wrongSite(headers, kind);
  if (site) return site;
  if (method !== (kind === "command" ? "POST" : "GET"))
    return { status: 405, message: `${method} is not allowed here.` };
  return wrongOrigin(headers, `${scheme}://${host}`, kind) ?? wrongBody(headers, kind);
}

/** `Origin` must name this very server. Browsers send it with every POST, and with no other same-origin request. */
function wrongOrigin(headers: Headers, own: string, kind: RequestKind): Refusal | null {
  const origin = headers.get("origin");
  if (origin === null && kind !== "command") return null;
  return origin === own ? null : { status: 403, message: "This origin is not allowed." };
}

function wrongSite(headers: Headers, kind: RequestKind): Refusal | null {
  const site = headers.get("sec-fetch-site");
  const isOurs = site === null || site === "same-origin" || (site === "none" && kind === "page");
  if (!isOurs) return { status: 403, message: "Requests from other sites are not allowed." };
  const destination = headers.get("sec-fetch-dest");
  if (destination === null) return null;
  const isExpected = kind === "page" ? PAGE_DESTINATIONS.has(destination) : destination === "empty";
  return isExpected ? null : { status: 403, message: "This page can't be embedded." };
}

/** A form of another site can't send this content type. */
function wrongBody(headers: Headers, kind: RequestKind): Refusal | null {
  if (kind !== "command") return null;
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === "application/json" ? null : { status: 415, message: "Only JSON is accepted." };
}
