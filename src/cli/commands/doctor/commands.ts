/** Command table: finding and fixing what is wrong. */
import { type CommandSpec, command, JSON_OPTION, lazy } from "../../program/spec.ts";

const doctorCommand = command({
  path: "doctor",
  group: "Set up",
  summary: "diagnose and fix problems",
  details:
    "Looks at the store, the hooks, the settings and the log of failures, and says in words what is wrong and what to do. Without --fix it changes nothing.",
  examples: [
    ["backtrail doctor", "what is wrong, and what to do"],
    ["backtrail doctor --fix", "fix what can be fixed safely"],
    ["backtrail doctor --check", "only what must hold; for scripts"],
    ["backtrail doctor bundle", "a file for a report, without anything private"],
  ],
});

export const doctorExamineCommand = command({
  path: "doctor examine",
  group: "Set up",
  summary: "what is wrong and what to do about it (default)",
  options: [
    { flags: "--check", help: "only what must hold; exit with 1 unless it does", conflicts: ["fix"] },
    { flags: "--fix", help: "fix what can be fixed safely" },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const doctorBundleCommand = command({
  path: "doctor bundle",
  group: "Set up",
  summary: "a file to attach to a report, without anything private",
  details:
    "Writes one JSON file with what helps to find a fault: versions, what `doctor` finds, the log of failures, counts and sizes. No prompt, answer, code or name of a file of yours is in it; secrets are redacted, your home directory is `~`. Read it before you send it.",
  arguments: [{ name: "[file]", help: "where to (default: in the temporary directory)", completes: "path" }],
  options: [{ flags: "-y, --yes", help: "overwrite a file that exists" }, JSON_OPTION],
});

export const DOCTOR_COMMANDS: readonly CommandSpec[] = [
  doctorCommand,
  lazy(doctorExamineCommand, () => import("./examine.ts")),
  lazy(doctorBundleCommand, () => import("./bundle.ts")),
];
