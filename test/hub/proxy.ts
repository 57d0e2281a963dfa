/** A TCP proxy on the loopback interface that passes everything on, stalls, or cuts connections, as a bad network does. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: { host: string; port: number };
  #left = Number.POSITIVE_INFINITY;
  #stalled = false;
  port = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(url: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(url);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    const address = proxy.#server.address();
    proxy.port = typeof address === "object" && address ? address.port : 0;
    return proxy;
  }

  /** The same address, through the proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.port);
    return changed.href.replace(/\/$/, "");
  }

  /** All connections end after so many more bytes, in both directions together. */
  cutAfter(bytes: number): void {
    this.#left = bytes;
  }

  /** Connections stay open, and nothing gets through. */
  stall(): void {
    this.#stalled = true;
  }

  /** Drops everything that is open; new connections work. */
  restore(): void {
    this.#stalled = false;
    this.#left = Number.POSITIVE_INFINITY;
    this.#cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#cut();
    await closed;
  }

  #accept(socket: Socket): void {
    const other = connect(this.#target);
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on("data", (data: Buffer) => this.#pass(data, to));
      from.on("error", () => from.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  #pass(data: Buffer, to: Socket): void {
    if (this.#stalled) return;
    if (data.length <= this.#left) {
      this.#left -= data.length;
      to.write(data);
      return;
    }
    to.end(data.subarray(0, this.#left), () => this.#cut());
    this.#left = 0;
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
