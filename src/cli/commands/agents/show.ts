/** `agents show <id>`: shows one agent in detail. */

import { inspectAll } from "../../../agents/hooks/install.ts";
import { capabilitiesOf, requireAgent } from "../../../agents/registry/registry.ts";
import { resumeCommand } from "../../../agents/shared/resume.ts";
import { printable } from "../../../base/text.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { shellText } from "../../../model/command.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { table } from "../../render/layout/table.ts";
import { ownExecutable } from "../../shared/executable.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsShowCommand } from "./commands.ts";

type Options = OptionsOf<typeof agentsShowCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const agent = await requireAgent(options.id);
  const { profile } = agent;
  const capabilities = capabilitiesOf(agent);
  const workspace = findWorkspace(io.cwd);
  const hooks = workspace && capabilities.hooks ? inspectAll(agent, { workspace, executable: ownExecutable() }) : [];
  if (options.json) {
    io.json({
      id: profile.id,
      name: profile.display_name,
      version: profile.tested_versions.at(-1) ?? null,
      capabilities,
      hooks,
      profile,
    });
    return;
  }
  const { paint } = io.out;
  io.print(
    `${paint("bold", printable(profile.display_name))} (${profile.id})${profile.preview ? paint("yellow", "  preview") : ""}`,
  );
  if (profile.description) io.print(printable(profile.description));
  io.print("");
  const can = Object.entries(capabilities).filter(([, able]) => able);
  const rows = [
    ["also called", (profile.short_names ?? []).join(", ") || "-"],
    ["program", profile.executable ?? "-"],
    ["works", can.map(([name]) => name).join(", ") || "code only"],
    ["tested with", profile.tested_versions.join(", ") || "-"],
    ["transcripts", profile.transcript ? `~/${profile.transcript.directory} (${profile.transcript.format})` : "-"],
    ["left alone", profile.protected_dirs.join(", ") || "-"],
    ["continue", shellText(resumeCommand(profile, "<session>")) || "-"],
  ];
  for (const line of table(
    rows.map((row) => row.map(printable)),
    io.out.columns,
  ))
    io.print(line);
  for (const { scope, file, state, problem } of hooks) {
    io.print(
      `hooks        ${state} for ${scope}: ${placeOf(file, workspace?.root ?? null)}${problem ? ` (${printable(problem)})` : ""}`,
    );
  }
}
