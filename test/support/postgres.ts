/**
 * A real PostgreSQL cluster for one test file: on a free port of the loopback interface, in a directory of its own,
 * gone when the block ends. PostgreSQL refuses to run as root, so root starts it as another user.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const READY_MS = 60_000;
const OWNER = "backtrail";

/** The directory of the newest server programs, or null. Tests that need them are skipped without them. */
export const postgresPrograms: string | null = findPrograms();

if (postgresPrograms === null) console.warn("PostgreSQL is not installed: tests of the hub are skipped.");

interface Account {
  uid: number;
  gid: number;
}

export class PostgresCluster {
  readonly directory: string;
  #port = 0;
  #server: ChildProcess | undefined;
  #databases = 0;
  readonly #account: Account | null;
  readonly #settings: readonly string[];

  private constructor(settings: readonly string[]) {
    this.#settings = settings;
    this.#account = accountFor();
    this.directory = mkdtempSync(join(tmpdir(), "backtrail-postgres-"));
    if (this.#account) chownSync(this.directory, this.#account.uid, this.#account.gid);
  }

  static async start(settings: readonly string[] = []): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(settings);
    try {
      cluster.#run("initdb", ["-D", cluster.data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
      await cluster.resume();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Starts a hot standby of this cluster: it follows every change, and takes none itself. */
  async standby(): Promise<PostgresCluster> {
    const standby = new PostgresCluster([]);
    try {
      const source = ["-h", "127.0.0.1", "-p", String(this.#port), "-U", OWNER];
      standby.#run("pg_basebackup", [...source, "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "--no-sync"]);
      await standby.resume();
    } catch (error) {
      await standby.stop();
      throw error;
    }
    return standby;
  }

  get data(): string {
    return join(this.directory, "data");
  }

  get port(): number {
    return this.#port;
  }

  get isRunning(): boolean {
    return this.#server !== undefined && this.#server.exitCode === null && this.#server.signalCode === null;
  }

  /** An address of a database of this cluster. */
  url(database: string): string {
    return `postgres://${OWNER}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Creates an empty database and returns its address. */
  create(tablespace?: string): string {
    const name = `test_${++this.#databases}`;
    this.#client("createdb", [...(tablespace ? ["-D", tablespace] : []), name]);
    return this.url(name);
  }

  /** Runs SQL as the owner, past every policy, and returns the rows, fields separated by `|`. */
  query(url: string, sql: string): string[] {
    const name = new URL(url).pathname.slice(1);
    const text = this.#client("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", name, "-c", sql]);
    return text.split("\n").filter((line) => line !== "");
  }

  /** Starts the server again after `kill`, on the same port and with the same data. */
  async resume(): Promise<void> {
    if (this.#port === 0) this.#port = await freePort();
    const args = ["-D", this.data, "-k", this.directory, "-p", String(this.#port), "-h", "127.0.0.1"];
    const settings = ["fsync=off", "shared_buffers=64MB", "log_min_messages=fatal", ...this.#settings];
    const command = this.#command("postgres", [...args, ...settings.flatMap((setting) => ["-c", setting])]);
    this.#server = spawn(command[0] ?? "", command.slice(1), { stdio: "ignore", cwd: this.directory });
    const deadline = performance.now() + READY_MS;
    for (;;) {
      try {
        this.#client("psql", ["-X", "-q", "-d", "postgres", "-c", "SELECT 1"]);
        return;
      } catch (error) {
        if (!this.isRunning || performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Kills the server as a crash would: nothing is written any more. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    // The other processes of the server end by themselves; a new server waits for them.
  }

  async stop(): Promise<void> {
    await this.#end("SIGQUIT");
    rmSync(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #end(signal: "SIGKILL" | "SIGQUIT"): Promise<void> {
    const server = this.#server;
    if (!server || !this.isRunning) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await ended;
  }

  #client(program: string, args: readonly string[]): string {
    return this.#run(program, ["-h", "127.0.0.1", "-p", String(this.#port), "-U", OWNER, ...args]);
  }

  #run(program: string, args: readonly string[]): string {
    const command = this.#command(program, args);
    return execFileSync(command[0] ?? "", command.slice(1), {
      cwd: this.directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 1 << 28,
    });
  }

  /** The server ends with this process, however this process ends. */
  #command(program: string, args: readonly string[]): string[] {
    const path = join(postgresPrograms ?? "", program);
    if (!this.#account) return [path, ...args];
    const { uid, gid } = this.#account;
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--pdeathsig=QUIT", "--"];
    return [...as, path, ...args];
  }
}

function findPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const installed = versions
    .map((version) => join(root, version, "bin"))
    .find((path) => existsSync(join(path, "initdb")));
  if (installed) return installed;
  const found = Bun.which("initdb");
  return found === null ? null : join(found, "..");
}

/** Null if this process may run the server itself. */
function accountFor(): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [, , uid, gid] = execFileSync("getent", ["passwd", name], { encoding: "utf8" }).split(":");
      return { uid: Number(uid), gid: Number(gid) };
    } catch {
      // There is no such account.
    }
  }
  throw new Error("PostgreSQL cannot run as root, and there is neither a user `postgres` nor `nobody`.");
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once("error", reject);
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}
