/** The address of a screen: `#/turn/<id>?split=1`. Names of files and sessions are parts of it, each encoded. */
import { createStore } from "./store.ts";

export interface Route {
  /** The first part; empty for the timeline. */
  screen: string;
  /** The other parts, decoded. */
  parts: readonly string[];
  query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = split(hash.replace(/^#?\/?/, ""), "?");
  const [screen = "", ...parts] = path.split("/").map(decoded);
  const query: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(search)) query[key] = value;
  return { screen, parts: parts.filter((part) => part !== ""), query };
}

/** The address of a route. A `repository` in the current address is kept unless the query names another. */
export function to(screen: string, parts: readonly string[] = [], query: Record<string, string | undefined> = {}) {
  const parameters = new URLSearchParams();
  const repository = route.get().query["repository"];
  for (const [key, value] of Object.entries({ repository, ...query }))
    if (value !== undefined && value !== "") parameters.set(key, value);
  const search = parameters.toString();
  return `#/${[screen, ...parts].map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

export const route = createStore<Route>({ screen: "", parts: [], query: {} });

export function startRouter(): void {
  const read = () => route.set(parseRoute(location.hash));
  addEventListener("hashchange", read);
  read();
}

export function go(address: string): void {
  if (location.hash !== address) location.hash = address;
}

/** Changes the address without a new entry in the history: for what only follows a cursor or a slider. */
export function replace(address: string): void {
  if (location.hash === address) return;
  history.replaceState(null, "", address);
  route.set(parseRoute(address));
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
