/** How the viewer starts and ends. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { temporaryRepository } from "../support/index.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";

async function enabled() {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  return repository;
}

async function openTab(view: ViewProcess) {
  const events = view.events();
  await events.next();
  return events;
}

test("it ends after the last tab, not after the first of two", async () => {
  using repository = await enabled();
  await using view = await startView(repository, { args: ["--idle", "1"] });
  const [first, second] = [await openTab(view), await openTab(view)];
  await first.return(undefined);
  expect((await view.get("state")).repository.kind).toBe("git");
  await second.return(undefined);
  expect(await view.ended).toBe(0);
});

test("a signal ends it at once, also with an open tab", async () => {
  using repository = await enabled();
  await using view = await startView(repository);
  await openTab(view);
  process.kill(view.pid, "SIGINT");
  expect(await view.ended).toBe(0);
});

test("the page is served at the address, and also on IPv6 where there is any", async () => {
  using repository = await enabled();
  await using view = await startView(repository, { signedOut: true });
  const page = await view.raw("");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const html = await page.text();
  for (const [, name = ""] of html.matchAll(/(?:src|href)="([\w.-]+)"/g))
    expect((await view.raw(name)).status).toBe(200);
  if (!(await isReachable("::1", Number(new URL(view.url).port)))) return;
  const again = new URL(view.base);
  again.hostname = "[::1]";
  expect((await fetch(again)).status).toBe(200);
});

test("a port that is in use is an error with a hint", async () => {
  using repository = await enabled();
  await using view = await startView(repository);
  const { port } = new URL(view.url);
  const { code, stderr } = await repository.run(["view", "--no-open", "--port", port]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(`Port ${port} is in use`);
});

test("without an enabled repository, it says so", async () => {
  using repository = temporaryRepository();
  const { code, stderr } = await repository.run(["view", "--no-open"]);
  expect([code === 0, stderr.includes("backtrail enable")]).toEqual([false, true]);
});

function isReachable(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port });
  socket.on("connect", () => resolve(true));
  socket.on("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
