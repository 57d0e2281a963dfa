/** A package registry on loopback that holds our packages and nothing else. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";

export interface Published {
  manifest: Record<string, unknown>;
  /** The archive's path; without one the package is announced and can't be fetched. */
  archive?: string;
}

export class Registry implements AsyncDisposable {
  readonly #server: Server;
  readonly #packages = new Map<string, Published>();
  /** The archives that were asked for, by their packages' names. */
  readonly fetched: string[] = [];

  constructor(packages: Published[]) {
    for (const published of packages) this.#packages.set(String(published.manifest["name"]), published);
    this.#server = createServer((request, response) => {
      const answer = this.#answer(decodeURIComponent(request.url ?? "/").slice(1));
      response.writeHead(answer === undefined ? 404 : 200);
      response.end(answer ?? "{}");
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The registry is not running.");
    return `http://127.0.0.1:${address.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(path: string): Buffer | string | undefined {
    const wanted = path.replace(/^archive\//, "");
    const published = this.#packages.get(wanted);
    if (published === undefined) return undefined;
    if (wanted === path) return JSON.stringify(this.#description(wanted, published));
    this.fetched.push(wanted);
    return published.archive === undefined ? undefined : readFileSync(published.archive);
  }

  #description(name: string, { manifest, archive }: Published): unknown {
    const version = String(manifest["version"]);
    const content = archive === undefined ? "" : readFileSync(archive);
    const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
    // What npm reads in a description instead of looking into the package.
    const scripts = manifest["scripts"] === undefined ? {} : { hasInstallScript: true };
    const dist = { tarball: `${this.address}archive/${name}`, integrity };
    return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, ...scripts, dist } } };
  }
}
