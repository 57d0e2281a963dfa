/** Another user's process on the same machine: it can connect, list processes and read what is readable. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { servedForAll } from "./recorded.ts";

const served = servedForAll();

const NAMES = ["state", "timeline", "sessions", "conversation", "file", "tree", "changes", "search?q=add", "events"];

test("a plain client without the cookie gets no data, whatever headers it sends", async () => {
  const origin = served.view.origin;
  const guises: Record<string, string>[] = [
    {},
    { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty", Origin: origin, Referer: served.view.base },
    {
      Authorization: `Bearer ${served.view.token}`,
      "X-Forwarded-For": "127.0.0.1",
      "X-Forwarded-Host": new URL(origin).host,
    },
    { Cookie: `token=${served.view.token}; backtrail=${served.view.token}` },
  ];
  for (const headers of guises)
    for (const name of NAMES) {
      const response = await served.view.raw(`api/${name}`, { headers });
      expect([name, response.status]).toEqual([name, 401]);
      expect(await response.text()).not.toContain("Add a file");
    }
  const saved = await served.view.raw("api/plan", {
    method: "POST",
    headers: { Origin: origin, "Content-Type": "application/json" },
    body: '{"action":"save","name":"taken over"}',
  });
  expect(saved.status).toBe(401);
});

/** Sends a token as another user would who has read it in the arguments of the browser. */
async function loginAsAnother({ url, token }: ViewProcess, host: string): Promise<string> {
  const { port, pathname } = new URL(url);
  const origin = `http://${host}:${port}`;
  const address = `${origin}${pathname}api/login`;
  const body = `{"token":"${token}"}`;
  const sent = ["-d", body, "-H", `Origin: ${origin}`, "-H", "Content-Type: application/json"];
  const curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", ...sent, address];
  const child = Bun.spawn(["setpriv", "--reuid=65534", "--clear-groups", ...curl], { stderr: "pipe" });
  return new Response(child.stdout).text();
}

const canBeAnother = process.getuid?.() === 0 && Bun.which("setpriv") !== null && Bun.which("curl") !== null;

// A server of the superuser's and a client of another user's: only the superuser can start both.
test.skipIf(!canBeAnother)("a token that another user has read is of no use to them, and still works", async () => {
  await using fresh = await startView(served.made.repository, { signedOut: true });
  expect(await loginAsAnother(fresh, "127.0.0.1")).toBe("403");
  // Nothing answers where there is no IPv6.
  expect(["403", "000"]).toContain(await loginAsAnother(fresh, "[::1]"));
  expect((await fresh.login()).status).toBe(204);
});

test("the token is neither in the arguments of the server nor in its environment", () => {
  if (process.platform !== "linux") return;
  for (const file of ["cmdline", "environ", "comm"])
    expect(readFileSync(`/proc/${served.view.pid}/${file}`, "latin1")).not.toContain(served.view.token);
});

test("neither the token nor the cookie is in any file", () => {
  const cookie = served.view.cookie.split("=")[1] ?? "";
  expect(cookie).toHaveLength(64);
  // The home directory is beside the repository.
  const place = dirname(served.made.repository.path);
  const names = readdirSync(place, { recursive: true, encoding: "utf8" });
  expect(names.some((name) => name.endsWith("steps.jsonl"))).toBe(true);
  for (const name of names) {
    const path = join(place, name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    const text = readFileSync(path, "latin1");
    expect([name, text.includes(served.view.token) || text.includes(cookie)]).toEqual([name, false]);
  }
});

test("guessing does not end: after many wrong tokens the right one still works, and only once", async () => {
  await using fresh = await startView(served.made.repository, { signedOut: true });
  const wrong = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(64, "0"));
  for (const token of wrong) expect((await fresh.login(token)).status).toBe(401);
  expect((await fresh.login()).status).toBe(204);
  expect((await fresh.login()).status).toBe(401);
});
