/** The stream of live events: whether the server is there, and who wants to hear that something changed. */
import type { LiveEvents, Topic } from "../../protocol.ts";
import { createStore } from "./store.ts";

/** `connecting` only until the first answer; `lost` while the browser tries again; `ended` if it never can. */
export type Connection = "connecting" | "live" | "lost" | "ended";

export const connection = createStore<Connection>("connecting");

type Listener = (topics: readonly Topic[]) => void;

const ALL: readonly Topic[] = [
  "timeline",
  "operations",
  "sessions",
  "forks",
  "runs",
  "checks",
  "proposals",
  "worktree",
];
const listeners = new Set<Listener>();
let source: EventSource | undefined;
let instance: string | undefined;
/** The browser gives up after some errors, such as a refused connection; then this tries again. */
const RETRY = 2_000;

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function connect(): void {
  source?.close();
  source = new EventSource("api/events");
  source.addEventListener("hello", (event) => {
    const hello = JSON.parse((event as MessageEvent<string>).data) as LiveEvents["hello"];
    if (instance !== undefined && instance !== hello.instance) return location.reload();
    const wasLost = connection.get() === "lost";
    instance = hello.instance;
    connection.set("live");
    // Changes in between were not reported.
    if (wasLost) notify(ALL);
  });
  source.addEventListener("changed", (event) => {
    const { topics } = JSON.parse((event as MessageEvent<string>).data) as LiveEvents["changed"];
    notify(topics);
  });
  source.addEventListener("error", () => {
    connection.set("lost");
    if (source?.readyState === EventSource.CLOSED) void tryAgain();
  });
}

/** Another server on the same port answers, but does not know this page: its address is another one. */
async function tryAgain(): Promise<void> {
  const response = await fetch("api/state", { credentials: "same-origin" }).catch(() => undefined);
  if (response?.status === 404 || response?.status === 401) connection.set("ended");
  else setTimeout(connect, RETRY);
}

function notify(topics: readonly Topic[]): void {
  for (const listener of [...listeners]) listener(topics);
}
