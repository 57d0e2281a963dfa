/** The hub with a certificate of its own, and behind a reverse proxy that has one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { executable, runBinary } from "../support/binary.ts";
import { TemporaryDirectory } from "../support/directory.ts";
import { cleanEnvironment } from "../support/environment.ts";
import { ScriptedClaude, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { status, Team } from "./team.ts";

describe.skipIf(postgresPrograms === null || Bun.which("openssl") === null)("encryption", () => {
  let cluster: PostgresCluster;
  const place = new TemporaryDirectory();
  const [cert, key] = [place.at("cert.pem"), place.at("key.pem")];
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    const subject = ["-subj", "/CN=hub", "-addext", "subjectAltName=IP:127.0.0.1"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  }, 300_000);
  afterAll(async () => {
    await cluster?.stop();
    place.remove();
  });

  test("with a certificate: machines that trust it join and send, others tell it nothing", async () => {
    await using team = await Team.start(cluster);
    await team.end();
    await team.serve(["--tls-cert", cert, "--tls-key", key]);
    expect(new URL(team.url).protocol).toBe("https:");
    const ada = await team.machine();
    const link = await team.invite("ada");
    const refused = await ada.run(["team", "join", link]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/certificate/i)]);
    // The invitation was not used up: it never left.
    const env = { NODE_EXTRA_CA_CERTS: cert };
    expect((await ada.run(["team", "join", link], { env })).code).toBe(0);
    await new ScriptedClaude(ada).turn("Add a greeting", [write("hello.txt", "hello\n")]);
    expect((await ada.run(["team", "send"], { env })).code).toBe(0);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
    expect((await ada.run(["team", "send"])).code).toBe(1);
    expect(await status(ada)).toMatchObject({ failure: { kind: "unreachable" } });
  }, 300_000);

  test("behind a proxy: the page's cookie is bound to the host, and each caller is counted alone", async () => {
    const home = new TemporaryDirectory();
    const database = cluster.create();
    const env = cleanEnvironment(home.path, { BACKTRAIL_HUB_DATABASE: database });
    const run = (...args: string[]) => runBinary(["hub", ...args, "--json"], { cwd: home.path, env });
    await run("init");
    let hub = "";
    const proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: readFileSync(cert), key: readFileSync(key) },
      fetch: async (request, server) => {
        const { pathname, search } = new URL(request.url);
        const headers = new Headers(request.headers);
        const caller = request.headers.get("x-test-caller") ?? server.requestIP(request)?.address ?? "";
        headers.set("x-forwarded-for", [request.headers.get("x-forwarded-for"), caller].filter(Boolean).join(", "));
        const body = request.method === "GET" ? {} : { body: await request.arrayBuffer() };
        return fetch(`${hub}${pathname}${search}`, { method: request.method, headers, ...body });
      },
    });
    const url = `https://127.0.0.1:${proxy.port}`;
    // Listens on all addresses, which it refuses without a proxy.
    expect((await runBinary(["hub", "serve", "--listen", "0.0.0.0:0"], { cwd: home.path, env })).code).toBe(4);
    const args = ["hub", "serve", "--json", "--listen", "0.0.0.0:0", "--behind-proxy", "--url", url];
    const child = spawn(executable(), args, { cwd: home.path, env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const line = await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data))));
      hub = `http://127.0.0.1:${new URL((JSON.parse(line) as { url: string }).url).port}`;
      const { link } = JSON.parse((await run("token", "invite", "ada", "--url", url)).stdout) as { link: string };
      const tls = { rejectUnauthorized: false };
      const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
        fetch(`${url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: url, ...headers },
          body: JSON.stringify(body),
          tls,
        });
      const joined = await ask("/v1/join", { invitation: new URL(link).hash.slice(1), device: "laptop" });
      const { token } = (await joined.json()) as { token: string };
      const made = await ask("/v1/link", {}, { authorization: `Bearer ${token}` });
      const login = await ask("/api/login", { token: ((await made.json()) as { link: string }).link });
      expect(login.headers.get("set-cookie")).toMatch(/^__Host-backtrail=.*; Secure/);
      const state = await fetch(`${url}/api/state`, {
        headers: { cookie: login.headers.get("set-cookie") ?? "" },
        tls,
      });
      expect(state.status).toBe(200);

      // A stranger who tries too often keeps nobody else out, whatever address it claims to have.
      const guess = (caller: string, claimed: string) =>
        ask("/v1/join", { invitation: "bti_x", device: "x" }, { "x-test-caller": caller, "x-forwarded-for": claimed });
      const statuses: number[] = [];
      for (let i = 0; i < 40; i++) statuses.push((await guess("192.0.2.1", `198.51.100.${i}`)).status);
      expect([statuses[0], statuses.at(-1)]).toEqual([403, 429]);
      expect((await guess("192.0.2.2", "192.0.2.1")).status).toBe(403);
    } finally {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      await proxy.stop(true);
      home.remove();
    }
  }, 300_000);
});
