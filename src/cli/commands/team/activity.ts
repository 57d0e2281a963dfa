/** `team activity`: counts of the team's turns by day, repository and agent. */
import { now } from "../../../base/clock.ts";
import { oneLine } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { thousands } from "../../render/layout/amounts.ts";
import { table } from "../../render/layout/table.ts";
import { ask } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamActivityCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamActivityCommand>;

const DAY_MS = 86_400_000;

export async function run({ days = 7, repository, json }: Options, io: Io): Promise<undefined> {
  const to = now();
  const from = new Date(to.getTime() - Math.max(0, days - 1) * DAY_MS);
  const dayOf = (date: Date) => date.toISOString().slice(0, 10);
  const { items } = await ask((hub) => hub.activity({ from: dayOf(from), to: dayOf(to), repository }));
  if (json) {
    io.json({ rows: items });
    return;
  }
  const rows = items.map((row) => [
    row.day,
    oneLine(row.repository),
    oneLine(row.agent),
    `${row.turns}`,
    `${row.undone}`,
    `${row.files}`,
    thousands(row.tokens.input + row.tokens.output + row.tokens.cacheRead + row.tokens.cacheWrite),
    `${row.people}`,
  ]);
  const heads = ["day", "repository", "agent", "turns", "undone", "files", "tokens", "people"];
  for (const line of table([heads, ...rows], io.out.columns)) io.print(line);
}
