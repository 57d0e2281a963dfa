/** `agents new <id>`: proposes a profile from a recording, or creates a skeleton. */
import { join, resolve } from "node:path";
import { writeProposal } from "../../../agents/authoring/propose/propose.ts";
import { scaffoldAgent } from "../../../agents/authoring/scaffold.ts";
import { writeFileAtomic } from "../../../base/fs/files.ts";
import { homeDirectory } from "../../../base/paths.ts";
import { printable } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { doubtText } from "../../render/words/agents/doubts.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsNewCommand } from "./commands.ts";

type Options = OptionsOf<typeof agentsNewCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  if (options.from !== undefined) return proposeFrom(options.from, options, io);
  const made = scaffoldAgent(options.id);
  if (options.json) {
    io.json(made);
    return;
  }
  for (const file of made.files) io.print(placeOf(file, null));
  io.say(`Put real payloads of ${options.id} into ${placeOf(made.payloads, null)}, one file each,`);
  io.say(`change the profile until \`backtrail agents check ${options.id}\` proves it,`);
  io.say(`and connect it with \`backtrail enable --agent ${options.id}\`.`);
  io.say(`It is easier to run \`backtrail agents record ${options.id}\`, then \`agents new --from\` the recording.`);
}

function proposeFrom(from: string, options: Options, io: Io): undefined {
  const place = from.startsWith("~/") ? join(homeDirectory(), from.slice(2)) : resolve(io.cwd, from);
  const made = writeProposal(options.id, place, { force: options.force === true });
  const doubts = made.doubts.map(doubtText);
  // JSON has no comments, so open questions are in a file beside the profile.
  const unsure = join(made.fixtures, "unsure.txt");
  writeFileAtomic(unsure, doubts.map((line) => `${line}\n`).join(""));
  if (options.json) {
    io.json({ ...made, unsure });
    return;
  }
  const { hooks, transcript } = made.profile;
  io.print(placeOf(made.file, null));
  for (const [event, meaning] of Object.entries(hooks?.events ?? {})) {
    io.print(`  ${printable(event)} → ${typeof meaning === "string" ? meaning : conditional(meaning)}`);
  }
  io.print(`  fields: ${Object.keys(hooks?.fields ?? {}).join(", ") || "none"}`);
  const tools = Object.entries(hooks?.tools ?? {}).map(([name, kind]) => `${printable(name)} (${kind})`);
  io.print(`  tools: ${tools.join(", ") || "none"}`);
  if (transcript) {
    io.print(
      `  transcripts: ~/${printable(transcript.directory)}/${printable(transcript.place ?? "…")} (${transcript.format})`,
    );
    io.print(`  lines: ${(transcript.lines?.rules ?? []).map(({ is }) => is).join(", ")}`);
  }
  io.say("");
  io.say(`Not sure (also in ${placeOf(unsure, null)}):`);
  for (const line of doubts) io.print(`  ${io.out.paint("yellow", "?")} ${line}`);
  io.say("");
  io.say(`Look through the profile, then run: backtrail agents check ${options.id}`);
}

function conditional(meaning: object): string {
  const cases = (Array.isArray(meaning) ? meaning : [meaning]) as { is: string }[];
  return cases.map(({ is }) => `${is}, under a condition`).join("; ");
}
