/** How many tests passed, failed and were skipped, read from the report that the test runner writes. */
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
 * loaded, an error between tests), and so has one that left no report or ran nothing.
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
