/** Command table: finding and fixing problems. */
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Set up");

const doctorCommand = command("doctor", "diagnose and fix problems", {
  details:
    "Checks the store, the hooks, the settings and the error log. Explains each problem and how to solve it. Changes nothing without --fix.",
  examples: [
    ["backtrail doctor", "list problems and solutions"],
    ["backtrail doctor --fix", "fix what can be fixed safely"],
    ["backtrail doctor --check", "only invariants; for scripts"],
    ["backtrail doctor bundle", "write a file for a bug report, without private data"],
  ],
});

export const doctorExamineCommand = command("doctor examine", "list problems and solutions (default)", {
  options: [
    { flags: "--check", help: "check only invariants; exit with 1 if one is violated", conflicts: ["fix"] },
    { flags: "--fix", help: "fix what can be fixed safely" },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const doctorBundleCommand = command("doctor bundle", "write a file for a bug report, without private data", {
  details:
    "Writes versions, the findings of `doctor`, the error log, counts and sizes to one JSON file. The file has no prompts, answers, code or names of your files; secrets are redacted, and your home directory is `~`. Read it before you send it.",
  arguments: [{ name: "[file]", help: "the file (default: in the temporary directory)", completes: "path" }],
  options: [{ flags: "-y, --yes", help: "overwrite an existing file" }, JSON_OPTION],
});

export const DOCTOR_COMMANDS: readonly CommandSpec[] = [
  doctorCommand,
  lazy(doctorExamineCommand, () => import("./examine.ts")),
  lazy(doctorBundleCommand, () => import("./bundle.ts")),
];
