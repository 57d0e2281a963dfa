/**
 * Hostile sites in the same browser, while the page is open and signed in. Each tries everything in
 * support/hostile.html, from an origin of its own; none may get data or change anything.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { temporaryDirectory, write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import {
  attackPath,
  EVIL,
  type Goal,
  HOSTILE_PAGE,
  hostileSite,
  lootOf,
  REBOUND,
  taken,
  unguardedServer,
} from "./support/attacker.ts";
import { closeBrowser, newContext, open, type Person, program } from "./support/browser.ts";
import { type Day, freshDay } from "./support/day.ts";

afterAll(closeBrowser);

/** Opens the hostile page in an origin, and returns the frame in which it runs. */
type Origin = (context: BrowserContext, port: number, goal: Goal) => Promise<Page | ReturnType<Page["mainFrame"]>>;

const at =
  (host: string): Origin =>
  async (context, port, goal) => {
    const page = await context.newPage();
    await page.goto(`http://${host}:${port}${attackPath(goal)}`);
    return page;
  };

const ORIGINS: Record<string, Origin> = {
  // The same site for browsers, which do not tell ports apart: SameSite cookies are no help.
  "another port of the same host": at("127.0.0.1"),
  "another site": at(EVIL),
  "another name of this machine": at("localhost"),
  "a sandboxed frame, whose origin is null": async (context, port, goal) => {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}${attackPath(goal).replace("/hostile", "/sandboxed")}`);
    const [, frame] = page.frames();
    if (!frame) throw new Error("There is no frame.");
    return frame;
  },
  "a file, whose origin is null": async (context, _, goal) => {
    using directory = temporaryDirectory();
    directory.write("hostile.html", HOSTILE_PAGE);
    const page = await context.newPage();
    const { search } = new URL(attackPath(goal), goal.base);
    await page.goto(pathToFileURL(directory.at("hostile.html")).href + search);
    return page;
  },
  // The page came from the attacker's address. Then its name leads to this machine: its requests are same-origin.
  "a name that was rebound to this machine": async (context, _, goal) => {
    const base = new URL(goal.base);
    base.hostname = REBOUND;
    const page = await context.newPage();
    const first = new URL(attackPath({ ...goal, base: base.href }), base).href;
    await page.route(first, (route) => route.fulfill({ contentType: "text/html", body: HOSTILE_PAGE }), { times: 1 });
    await page.goto(first);
    return page;
  },
};

/** Attempts that can read an unguarded server's answers from everywhere. */
const READING = ["fetch", "JSON with a preflight", "XMLHttpRequest", "EventSource", "WebSocket", "script", "style"];

describe.skipIf(program === undefined)("hostile sites, in Chromium", () => {
  for (const [name, enter] of Object.entries(ORIGINS)) {
    test(`an unguarded server is lost to ${name}, or the next test would prove nothing`, async () => {
      await using site = hostileSite();
      await using unguarded = unguardedServer();
      await using context = await newContext();
      const frame = await enter(context, site.port, unguarded);
      const loot = await lootOf(frame);
      const got = Object.keys(loot).filter((attempt) => loot[attempt] !== null);
      expect(got).toEqual(expect.arrayContaining(READING));
      expect(unguarded.changes.filter((change) => change.includes('"action":"save"')).length).toBeGreaterThanOrEqual(4);
      expect(framesWithin(frame, unguarded.base.split("/known")[0] ?? "")).toBeGreaterThan(0);
    });

    test(`${name} gets nothing and changes nothing`, async () => {
      await using site = hostileSite();
      using day = await recorded();
      await using view = await startView(day.repository, { signedOut: true });
      await using context = await newContext();
      // Even with the token, another origin can't exchange it.
      const early = await enter(context, site.port, { base: view.base, token: view.token });
      expect(taken(await lootOf(early))).toEqual([]);

      await using person = await open(view);
      const turns = person.page.getByRole("list", { name: "Turns" });
      await turns.getByText("Write a secret plan").waitFor();
      // The page asks for the lines by itself, and the timeline has them from then on.
      await turns.getByText("+1", { exact: true }).waitFor();
      const before = await stateOf(person, day);
      const frame = await enter(person.context, site.port, view);
      expect(taken(await lootOf(frame))).toEqual([]);
      expect(framesWithin(frame, view.origin)).toBe(0);
      expect(await stateOf(person, day)).toEqual(before);
      const cookie = await cookieOf(person);
      for (const request of site.heard) expect(request).not.toContain(cookie);
    });
  }
});

/** Frames of the hostile page that show a document of the attacked server, and not an error of the browser. */
function framesWithin(frame: Page | ReturnType<Page["mainFrame"]>, origin: string): number {
  const { port } = new URL(origin);
  const children = "childFrames" in frame ? frame.childFrames() : frame.mainFrame().childFrames();
  return children.filter((child) => child.name() === "framed" && child.url().includes(`:${port}/`)).length;
}

async function recorded(): Promise<Day> {
  const day = await freshDay();
  await day.agent.start();
  await day.agent.turn("Write a secret plan", [write("plan.txt", "the plan\n")], "Written.");
  return day;
}

async function cookieOf({ context }: Person): Promise<string> {
  const [cookie] = await context.cookies();
  if (!cookie) throw new Error("The page has no cookie.");
  return cookie.value;
}

/** What the page shows, and every file of the repository with its content. */
async function stateOf({ page }: Person, { repository }: Day): Promise<unknown> {
  const asked = await page.evaluate(
    `Promise.all(["timeline", "sessions", "forks"].map(async (name) => (await fetch("api/" + name)).text()))`,
  );
  return { asked, files: digestsBelow(repository.path) };
}

function digestsBelow(directory: string): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const path = join(directory, name);
    if (lstatSync(path).isFile()) digests[name] = createHash("sha256").update(readFileSync(path)).digest("hex");
  }
  return digests;
}
