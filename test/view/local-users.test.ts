/** Another user's process on the same machine: it can connect, list processes and read what is readable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

let made: Awaited<ReturnType<typeof recorded>>;
let view: ViewProcess;

beforeAll(async () => {
  made = await recorded();
  view = await startView(made.repository);
}, 60_000);

afterAll(async () => {
  await view.stop();
  made[Symbol.dispose]();
});

const NAMES = ["state", "timeline", "sessions", "conversation", "file", "tree", "changes", "search?q=add", "events"];

test("a plain client without the cookie is told nothing, whatever it says about itself", async () => {
  const origin = view.origin;
  const guises: Record<string, string>[] = [
    {},
    { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty", Origin: origin, Referer: view.base },
    { Authorization: `Bearer ${view.token}`, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": new URL(origin).host },
    { Cookie: `token=${view.token}; backtrail=${view.token}` },
  ];
  for (const headers of guises)
    for (const name of NAMES) {
      const response = await view.raw(`api/${name}`, { headers });
      expect([name, response.status]).toEqual([name, 401]);
      expect(await response.text()).not.toContain("Add a file");
    }
  const saved = await view.raw("api/plan", {
    method: "POST",
    headers: { Origin: origin, "Content-Type": "application/json" },
    body: '{"action":"save","name":"taken over"}',
  });
  expect(saved.status).toBe(401);
});

test("the token is neither in the arguments of the server nor in its environment", () => {
  if (process.platform !== "linux") return;
  for (const file of ["cmdline", "environ", "comm"])
    expect(readFileSync(`/proc/${view.pid}/${file}`, "latin1")).not.toContain(view.token);
});

test("neither the token nor the cookie is in any file", () => {
  const cookie = view.cookie.split("=")[1] ?? "";
  expect(cookie).toHaveLength(64);
  // The home directory is beside the repository.
  const place = dirname(made.repository.path);
  const names = readdirSync(place, { recursive: true, encoding: "utf8" });
  expect(names.some((name) => name.endsWith("steps.jsonl"))).toBe(true);
  for (const name of names) {
    const path = join(place, name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    const text = readFileSync(path, "latin1");
    expect([name, text.includes(view.token) || text.includes(cookie)]).toEqual([name, false]);
  }
});

test("guessing does not end: after many wrong tokens the right one still works, and only once", async () => {
  await using fresh = await startView(made.repository, { signedOut: true });
  const wrong = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(64, "0"));
  for (const token of wrong) expect((await fresh.login(token)).status).toBe(401);
  expect((await fresh.login()).status).toBe(204);
  expect((await fresh.login()).status).toBe(401);
});
