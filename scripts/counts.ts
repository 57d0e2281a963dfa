/** What the test runner's report says: how many tests passed, failed and were skipped, and why tests failed. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export const nothing: Counts = { passed: 0, failed: 0, skipped: 0 };

export function add(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

export function line(counts: Counts): string {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}

/**
 * Reads a JUnit report. A run that ended badly has failed even where no single test did (a file that cannot be
 * loaded, an error between tests), and so has one without a report or without tests.
 */
export function countsOf(report: string | undefined, status: number | null): Counts {
  const head = report === undefined ? undefined : /<testsuites\b[^>]*>/.exec(report)?.[0];
  if (head === undefined) return { ...nothing, failed: 1 };
  const total = attribute(head, "tests");
  const skipped = attribute(head, "skipped");
  const failures = attribute(head, "failures") + attribute(head, "errors");
  const passed = Math.max(0, total - failures - skipped);
  const failed = failures === 0 && (status !== 0 || total === 0) ? 1 : failures;
  return { passed, failed, skipped };
}

function attribute(tag: string, name: string): number {
  const value = new RegExp(`\\s${name}="(\\d+)"`).exec(tag)?.[1];
  return value === undefined ? 0 : Number(value);
}

export interface Failure {
  file: string;
  test: string;
  message: string;
}

const TEST_CASE = /<testcase\b([^>]*[^/])>([\s\S]*?)<\/testcase>/g;

/** The failed tests of a JUnit report. */
export function failuresOf(report: string): Failure[] {
  const found: Failure[] = [];
  for (const [, tag = "", body = ""] of report.matchAll(TEST_CASE)) {
    const failure = /<(?:failure|error)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/(?:failure|error)>)/.exec(body);
    if (!failure) continue;
    const test = [text(tag, "classname"), text(tag, "name")].filter((part) => part !== "").join(" > ");
    found.push({ file: text(tag, "file"), test, message: unescaped(failure[2] || text(failure[1] ?? "", "message")) });
  }
  return found;
}

function text(tag: string, name: string): string {
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(escaped: string): string {
  return escaped.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[name ?? ""] ?? whole),
  );
}
