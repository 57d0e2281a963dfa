/** A real browser for the stories: the system's Chromium, with everything that a page must not do recorded. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { ViewProcess } from "../../support/view/server.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser's program; undefined where there is none. */
export const program = process.env["BACKTRAIL_TEST_CHROMIUM"] ?? PLACES.find((place) => existsSync(place));

export const skipReason = program === undefined ? "there is no Chromium" : undefined;

/**
 * Names of hostile sites lead to this machine, every other name to nowhere. The tests run in containers too, where
 * Chromium has no sandbox of its own. Its own protection of the local network is off: the server must not need it.
 */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--host-resolver-rules=MAP *.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
];

let shared: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  shared ??= launch(program ?? "");
  return shared;
}

/** A browser of one's own, by another program than the usual. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

/** An empty profile, without any cookie. */
export async function newContext(): Promise<BrowserContext> {
  return (await browser()).newContext();
}

export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
  shared = undefined;
}

export interface Person extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Errors in the console, exceptions, and requests to anywhere but the server. Must stay empty. */
  problems: string[];
  /** Another tab of the same browser. */
  tab(hash?: string): Promise<Page>;
}

export interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
  /** Another than the one that all tests share. */
  browser?: Browser;
}

/** Opens the address that `backtrail view` printed, as a person does. */
export async function open(
  view: Pick<ViewProcess, "url" | "origin" | "base">,
  { width = 1440, height = 900, dark = false, browser: own }: Look = {},
): Promise<Person> {
  const context = await (own ?? (await browser())).newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const problems: string[] = [];
  const watch = (page: Page) => {
    page.setDefaultTimeout(30_000);
    page.on("console", (message) => {
      const { url } = message.location();
      if (message.type() === "error") problems.push(`console: ${message.text()} ${url}`);
    });
    page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
    page.on("request", (request) => {
      const address = request.url();
      if (!address.startsWith(view.origin) && !address.startsWith("data:")) problems.push(`request: ${address}`);
    });
  };
  context.on("page", watch);
  const page = await context.newPage();
  await page.goto(view.url);
  return {
    page,
    context,
    problems,
    async tab(hash = "") {
      const other = await context.newPage();
      await other.goto(view.base + hash);
      return other;
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

export interface Reader extends AsyncDisposable {
  page: Page;
  problems: string[];
  /** Every address that was asked for, that of the file included. */
  requests: string[];
}

/** Opens a file from disk, as a person does who was sent one. */
export async function openFile(
  address: string,
  { width = 1440, height = 900, dark = false }: Look = {},
): Promise<Reader> {
  const context = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const problems: string[] = [];
  const requests: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) requests.push(request.url());
  });
  await page.goto(address);
  return { page, problems, requests, [Symbol.asyncDispose]: () => context.close() };
}
