/** The test suites: where each one is, and how it may be run. */
export interface Suite {
  name: string;
  /** Directories and files below the project. */
  places: string[];
  /** Whether its files may run beside each other. */
  parallel: boolean;
  /** Milliseconds that one test may take. */
  timeout: number;
  /** Runs a file that failed a second time. If it passes then, the summary names it as unstable. */
  retry?: true;
}

export const quickSuites: Suite[] = [
  {
    name: "unit",
    places: [
      "src",
      "test/support",
      "test/agents",
      "test/checkpoints",
      "test/redact",
      "test/docs.test.ts",
      "test/layers.test.ts",
      "test/sentences.test.ts",
      "test/scripts.test.ts",
      "test/unused.test.ts",
    ],
    parallel: true,
    timeout: 60_000,
  },
  { name: "never lose", places: ["test/never-lose"], parallel: true, timeout: 60_000 },
  { name: "journeys", places: ["test/journeys"], parallel: true, timeout: 60_000 },
  { name: "viewer", places: ["test/view"], parallel: true, timeout: 60_000 },
];

export const slowSuites: Suite[] = [
  { name: "conformance", places: ["test/conformance"], parallel: true, timeout: 60_000 },
  { name: "browser", places: ["test/browser"], parallel: false, timeout: 180_000, retry: true },
  { name: "packaging", places: ["test/packaging"], parallel: false, timeout: 120_000 },
  { name: "hub", places: ["test/hub"], parallel: false, timeout: 120_000, retry: true },
  { name: "fuzz", places: ["test/fuzz"], parallel: true, timeout: 120_000 },
  { name: "chaos", places: ["test/chaos"], parallel: true, timeout: 120_000 },
  { name: "faults", places: ["test/faults"], parallel: true, timeout: 120_000 },
  { name: "hook managers", places: ["test/hook-managers"], parallel: true, timeout: 120_000 },
  { name: "real agents", places: ["test/real"], parallel: false, timeout: 300_000, retry: true },
];
