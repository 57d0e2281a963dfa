/** `clean`: lets go of what is past its time, after showing what that frees. */
import { plural } from "../../base/text.ts";
import { type Expired, freeRoom, type LettingGo, letGo, planLettingGo } from "../../lifecycle/pruning.ts";
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

const WHAT: Readonly<Record<Expired["kind"], [one: string, many: string]>> = {
  imported: ["imported session", "imported sessions"],
  transcript: ["stored transcript of OpenCode", "stored transcripts of OpenCode"],
  "hand-over": ["text that another agent was told", "texts that other agents were told"],
  kept: ["set of files that a restore kept", "sets of files that restores kept"],
  commits: ["history of a dropped fork", "histories of dropped forks"],
  session: ["session without steps", "sessions without steps"],
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const { retention } = settingsOf(workspace).config;
  const limits = { days: retention.days, maxSize: retention.max_size };
  const plan = await withProgress(io, "Measuring", () => planLettingGo(workspace, limits));
  const { steps, others, sizeBefore, sizeAfter } = plan;
  const nothing = steps.length + others.length === 0;
  const told = (deleted: boolean) =>
    io.json({ steps: steps.map((step) => step.id), others, sizeBefore, sizeAfter, deleted });
  if (options.json && (options.dryRun || nothing)) {
    told(false);
    return nothing ? EXIT.nothing : undefined;
  }
  if (nothing) {
    const days = plural(retention.days, "day");
    io.print(`Nothing to let go of: ${megabytes(sizeBefore)}, and nothing is older than ${days}.`);
    return EXIT.nothing;
  }
  if (!options.json) tell(plan, io);
  if (options.dryRun) return undefined;
  if (!options.yes && !(await confirm(io, "Let go of them?", "--yes"))) return EXIT.nothing;
  await withProgress(io, "Letting go", async () => {
    await letGo(workspace, plan);
    await freeRoom(workspace);
  });
  if (options.json) told(true);
  else {
    io.print(`Done: ${plural(steps.length, "step")} gone.`);
    if (workspace.kind === "repository")
      io.say("git itself frees the space when it next prunes what nothing refers to.");
  }
  return undefined;
}

function tell({ steps, others, sizeBefore, sizeAfter }: LettingGo, io: Io): void {
  const [oldest, newest] = [steps[0], steps.at(-1)];
  if (oldest && newest)
    io.print(`${plural(steps.length, "step")} to let go of, from ${moment(oldest.time)} to ${moment(newest.time)}.`);
  for (const [kind, some] of Map.groupBy(others, (other) => other.kind)) {
    const bytes = some.reduce((sum, other) => sum + other.bytes, 0);
    io.print(`${plural(some.length, ...WHAT[kind])} to let go of${bytes > 0 ? `, ${megabytes(bytes)}` : ""}.`);
  }
  io.print(`Steps would shrink from ${megabytes(sizeBefore)} to ${megabytes(sizeAfter)}. Named steps stay.`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
