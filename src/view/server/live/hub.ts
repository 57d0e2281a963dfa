/** The stream of live events: one open response per tab. Watches the store only while there is a tab. */
import type { LiveEvents, Topic } from "../../protocol.ts";
import type { Connection } from "../http/listen.ts";
import { streamResponse } from "../http/responses.ts";
import type { Repositories } from "../repository/repositories.ts";
import { watchStore } from "./watch.ts";

type Sink = ReadableStreamDefaultController<Uint8Array>;

const MAX_TABS = 50;

export class LiveEventHub {
  readonly #hello: LiveEvents["hello"];
  readonly #repositories: Repositories;
  readonly #onTabs: (count: number) => void;
  readonly #tabs = new Set<Sink>();
  readonly #watches = new Map<string, { close(): void }>();

  constructor(hello: LiveEvents["hello"], repositories: Repositories, onTabs: (count: number) => void) {
    this.#hello = hello;
    this.#repositories = repositories;
    this.#onTabs = onTabs;
    repositories.onOpen = () => this.#watchAll();
    repositories.onChange = (repository, topics) => this.#changed(repository, topics);
  }

  open(connection: Connection): Response {
    connection.keepOpen();
    let own: Sink | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (sink) => {
        own = sink;
        this.#tabs.add(sink);
        send(sink, "hello", this.#hello);
      },
      cancel: () => {
        if (own) this.#leave(own);
      },
    });
    if (this.#tabs.size > MAX_TABS) for (const oldest of [...this.#tabs].slice(0, -MAX_TABS)) this.#end(oldest);
    this.#watchAll();
    this.#onTabs(this.#tabs.size);
    return streamResponse(body);
  }

  close(): void {
    for (const sink of this.#tabs) this.#end(sink);
    this.#stopWatching();
  }

  #changed(repository: string, topics: Topic[]): void {
    for (const sink of this.#tabs) {
      try {
        send(sink, "changed", { repository, topics });
      } catch {
        this.#leave(sink);
      }
    }
  }

  #watchAll(): void {
    if (this.#tabs.size === 0) return;
    for (const { id, workspace } of this.#repositories.opened()) {
      if (this.#watches.has(id)) continue;
      const onChange = (topics: Topic[]) => this.#repositories.changed(id, topics);
      this.#watches.set(id, watchStore(workspace, onChange));
    }
  }

  #stopWatching(): void {
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  #leave(sink: Sink): void {
    if (!this.#tabs.delete(sink)) return;
    if (this.#tabs.size === 0) this.#stopWatching();
    this.#onTabs(this.#tabs.size);
  }

  #end(sink: Sink): void {
    try {
      sink.close();
    } catch {
      // The tab has gone already.
    }
    this.#leave(sink);
  }
}

function send<Name extends keyof LiveEvents>(sink: Sink, name: Name, data: LiveEvents[Name]): void {
  sink.enqueue(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
}
