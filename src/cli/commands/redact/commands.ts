/** Command table: finding secrets in files. */
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Set up");

const redactCommand = command("redact", "find the secrets that redaction removes", {
  details:
    "Secrets are removed from conversations before they are stored in a checkpoint or leave this machine. These commands show what would be removed from a file, but never the secret itself. Add patterns with the setting `redaction.rules`, and exceptions with `redaction.allow`.",
  examples: [
    ["backtrail redact scan notes.md app.log", "list secrets"],
    ["backtrail redact test session.jsonl", "print it without them"],
    ["backtrail config set redaction.rules 'A-[0-9]{6}'", "your own pattern"],
  ],
});

export const redactScanCommand = command("redact scan", "list the places of secrets in files", {
  arguments: [{ name: "<files...>", help: "any files", completes: "path" }],
  options: [{ flags: "--check", help: "exit with 1 if a secret is found" }, JSON_OPTION],
  isDefault: true,
});

export const redactTestCommand = command("redact test", "print a file without its secrets", {
  arguments: [{ name: "<file>", help: "a text or a transcript", completes: "path" }],
  options: [{ flags: "-w, --whole", help: "print the whole file, not only the changed lines" }, JSON_OPTION],
});

export const REDACT_COMMANDS: readonly CommandSpec[] = [
  redactCommand,
  lazy(redactScanCommand, () => import("./scan.ts")),
  lazy(redactTestCommand, () => import("./test.ts")),
];
