/** Command table: finding secrets in files. */
import { type CommandSpec, command, JSON_OPTION, lazy } from "../../program/spec.ts";

const redactCommand = command({
  path: "redact",
  group: "Set up",
  summary: "find secrets in files, as they are kept out of checkpoints",
  details:
    "Secrets are taken out of conversations before they go into a checkpoint or leave this machine. These commands show what would be taken out of a file, and never a secret itself. `redaction.rules` and `redaction.allow` are your own additions and exceptions.",
  examples: [
    ["backtrail redact scan notes.md app.log", "where secrets are"],
    ["backtrail redact test session.jsonl", "what it is without them"],
    ["backtrail config set redaction.rules 'A-[0-9]{6}'", "a pattern of yours"],
  ],
});

export const redactScanCommand = command({
  path: "redact scan",
  group: "Set up",
  summary: "where secrets are in these files",
  arguments: [{ name: "<files...>", help: "texts, transcripts, anything", completes: "path" }],
  options: [{ flags: "--check", help: "exit with 1 if there is one" }, JSON_OPTION],
  isDefault: true,
});

export const redactTestCommand = command({
  path: "redact test",
  group: "Set up",
  summary: "what a file looks like without its secrets",
  arguments: [{ name: "<file>", help: "a text or a transcript", completes: "path" }],
  options: [{ flags: "-w, --whole", help: "all of it, not only the places" }, JSON_OPTION],
});

export const REDACT_COMMANDS: readonly CommandSpec[] = [
  redactCommand,
  lazy(redactScanCommand, () => import("./scan.ts")),
  lazy(redactTestCommand, () => import("./test.ts")),
];
