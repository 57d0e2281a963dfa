/**
 * Droid as an editor drives it: one process, several turns, over JSON-RPC. Runs inside the sandbox.
 *
 * Usage: factoryai-droid.rpc.ts <model> <step>...   A step is `say:<prompt>`, `interrupt:<prompt>` (stopped while the
 * model speaks), `compact` or `load:<session>`. Prints one JSON line: the session's id.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const PATIENCE_MS = 30_000;
const FRAME = { factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.220.0", jsonrpc: "2.0" };

interface Incoming {
  type?: string;
  id?: string;
  method?: string;
  result?: { sessionId?: string };
  error?: { message?: string };
  params?: { notification?: { type?: string; newState?: string } };
}

class Droid {
  readonly #child = spawn("droid", ["exec", "--input-format", "stream-jsonrpc", "-o", "stream-jsonrpc"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  readonly #listeners = new Set<(message: Incoming) => void>();

  constructor() {
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) return;
      const message = JSON.parse(line) as Incoming;
      for (const listener of [...this.#listeners]) listener(message);
    });
  }

  async request(method: string, params: Record<string, unknown>): Promise<Incoming> {
    const id = randomUUID();
    const answered = this.until(
      `an answer to ${method}`,
      (message) => message.type === "response" && message.id === id,
    );
    this.#child.stdin.write(`${JSON.stringify({ ...FRAME, type: "request", id, method, params })}\n`);
    const answer = await answered;
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer;
  }

  until(what: string, wanted: (message: Incoming) => boolean): Promise<Incoming> {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`there was never ${what}`)), PATIENCE_MS);
      const listener = (message: Incoming) => {
        if (!wanted(message)) return;
        clearTimeout(timer);
        this.#listeners.delete(listener);
        done(message);
      };
      this.#listeners.add(listener);
    });
  }

  state(...states: string[]): Promise<Incoming> {
    return this.until(`the state ${states.join(" or ")}`, ({ params }) => {
      const change = params?.notification;
      return change?.type === "droid_working_state_changed" && states.includes(change.newState ?? "");
    });
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#child.once("exit", done));
    await this.request("droid.close_session", { reason: "other" });
    this.#child.stdin.end();
    await Promise.race([ended, new Promise((done) => setTimeout(done, 3_000))]);
    this.#child.kill("SIGKILL");
  }
}

async function main(model: string, steps: string[]): Promise<void> {
  const droid = new Droid();
  let session = "";
  for (const step of steps) {
    const [kind = "", ...rest] = step.split(":");
    const text = rest.join(":");
    if (kind === "load") {
      session = text;
      await droid.request("droid.load_session", { sessionId: text });
      continue;
    }
    if (session === "") {
      const settings = { modelId: model, autonomyLevel: "high", interactionMode: "auto" };
      const made = await droid.request("droid.initialize_session", {
        machineId: "test",
        cwd: process.cwd(),
        ...settings,
      });
      session = made.result?.sessionId ?? "";
    }
    if (kind === "compact") {
      await droid.request("droid.compact_session", {});
      continue;
    }
    const idle = droid.state("idle");
    const speaking = droid.until("a word of the model's", (message) => JSON.stringify(message).includes("text_delta"));
    speaking.catch(() => {});
    await droid.request("droid.add_user_message", { text, messageId: randomUUID() });
    if (kind === "interrupt") {
      await speaking;
      await droid.request("droid.interrupt_session", {});
    }
    await idle;
    if (kind === "interrupt") await recorded(text);
  }
  await droid.close();
  process.stdout.write(`${JSON.stringify({ session })}\n`);
  process.exit(0);
}

/** Droid tells of an interrupt when it is idle again already: whoever asks at once may be faster than its hook. */
async function recorded(prompt: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { stdout } = spawnSync("backtrail", ["log", "--json", "--limit", "0"], { encoding: "utf8" });
    const { steps } = JSON.parse(stdout) as { steps: { kind: string; prompt: string | null }[] };
    if (steps.some((step) => step.kind === "turn-end" && step.prompt === prompt)) return;
    if (Date.now() > deadline) throw new Error(`the end of "${prompt}" was never recorded`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

const [model = "", ...steps] = process.argv.slice(2);
await main(model, steps);
