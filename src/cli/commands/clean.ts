/** `clean`: lets go of old steps, after showing what that frees. */
import { plural } from "../../base/text.ts";
import { dropSteps, planPruning } from "../../steps/retention.ts";
import { confirm } from "../ask.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { moment } from "../render/time.ts";
import { settingsOf } from "../settings.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const { retention } = settingsOf(workspace).config;
  const limits = { days: retention.days, maxSize: retention.max_size };
  const plan = await withProgress(io, "Measuring", () => planPruning(workspace, limits));
  const { steps, sizeBefore, sizeAfter } = plan;
  if (options.json && (options.dryRun || steps.length === 0)) {
    io.json({ steps: steps.map((step) => step.id), sizeBefore, sizeAfter, deleted: false });
    return steps.length === 0 ? EXIT.nothing : undefined;
  }
  if (steps.length === 0) {
    io.print(
      `Nothing to let go of: ${megabytes(sizeBefore)}, and no step is older than ${plural(retention.days, "day")}.`,
    );
    return EXIT.nothing;
  }
  if (!options.json) {
    const [oldest, newest] = [steps[0], steps.at(-1)];
    io.print(
      `${plural(steps.length, "step")} to let go of, from ${moment(oldest?.time ?? "")} to ${moment(newest?.time ?? "")}.`,
    );
    io.print(`The store would shrink from ${megabytes(sizeBefore)} to ${megabytes(sizeAfter)}. Named steps stay.`);
  }
  if (options.dryRun) return undefined;
  if (!options.yes && !(await confirm(io, "Let go of them?", "--yes"))) return EXIT.nothing;
  await withProgress(io, "Letting go", () => dropSteps(workspace, steps));
  if (options.json) io.json({ steps: steps.map((step) => step.id), sizeBefore, sizeAfter, deleted: true });
  else {
    io.print(`Done: ${plural(steps.length, "step")} gone.`);
    io.say("git itself frees the space when it next prunes what nothing refers to.");
  }
  return undefined;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
