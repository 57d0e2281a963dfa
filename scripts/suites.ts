/** The suites of tests: where each lies, and how it may be run. */
export interface Suite {
  name: string;
  /** Directories and files below the project. */
  places: string[];
  /** Whether its files may run beside each other. */
  parallel: boolean;
  /** Milliseconds that one test may take. */
  timeout: number;
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
      "test/layers.test.ts",
      "test/scripts.test.ts",
    ],
    parallel: true,
    timeout: 60_000,
  },
  { name: "journeys", places: ["test/journeys"], parallel: true, timeout: 60_000 },
];

export const slowSuites: Suite[] = [
  { name: "conformance", places: ["test/conformance"], parallel: true, timeout: 60_000 },
  { name: "packaging", places: ["test/packaging"], parallel: false, timeout: 120_000 },
  { name: "fuzz", places: ["test/fuzz"], parallel: true, timeout: 120_000 },
  { name: "faults", places: ["test/faults"], parallel: true, timeout: 120_000 },
  { name: "real agents", places: ["test/real"], parallel: false, timeout: 300_000 },
];
