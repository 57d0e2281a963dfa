/** The answer to a query, kept up to date: asked again when the server reports a change of one of its topics. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Queries, QueryName, Topic } from "../../protocol.ts";
import { addressOf, query, RequestError } from "./client.ts";
import { onChange } from "./live.ts";

export interface Loaded<T> {
  data: T | undefined;
  error: RequestError | undefined;
  /** Nothing to show yet. */
  loading: boolean;
  reload(): void;
}

/** Answers seen before are shown at once and then brought up to date. */
const seen = new Map<string, unknown>();
const MAX_SEEN = 200;

export function useQuery<N extends QueryName>(
  name: N,
  parameters: Queries[N]["query"] | null,
  topics: readonly Topic[] = [],
): Loaded<Queries[N]["answer"]> {
  type Answer = Queries[N]["answer"];
  const address = parameters === null ? "" : addressOf(name, parameters);
  const [state, setState] = useState<{ address: string; data?: Answer; error?: RequestError }>({ address: "" });
  const running = useRef<AbortController | undefined>(undefined);

  const load = useCallback(() => {
    running.current?.abort();
    if (address === "") return;
    const abort = new AbortController();
    running.current = abort;
    query(name, parameters as Queries[N]["query"], abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return;
        remember(address, data);
        setState({ address, data });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const known = error instanceof RequestError ? error : new RequestError("failed", String(error), null);
        const data = seen.get(address) as Answer | undefined;
        // Keep the current content while the server is unreachable.
        setState(known.kind === "offline" && data !== undefined ? { address, data } : { address, error: known });
      },
    );
  }, [address]);

  // Not after the next paint: the answer is what that would wait for.
  useLayoutEffect(() => {
    load();
    return () => running.current?.abort();
  }, [load]);
  useEffect(
    () => (topics.length === 0 ? undefined : onChange((changed) => changed.some((t) => topics.includes(t)) && load())),
    [load, topics.join()],
  );

  const own = state.address === address ? state : undefined;
  const data = own?.data ?? (own?.error ? undefined : (seen.get(address) as Answer | undefined));
  return { data, error: own?.error, loading: address !== "" && data === undefined && !own?.error, reload: load };
}

function remember(address: string, data: unknown): void {
  seen.delete(address);
  seen.set(address, data);
  const oldest = seen.keys().next().value;
  if (seen.size > MAX_SEEN && oldest !== undefined) seen.delete(oldest);
}
