/** Who works on what, and how much was done: the first screen of the hub's page. */
import type { TeamActivity } from "../../view/protocol.ts";
import { activity } from "../query/activity.ts";
import type { Asked } from "./queries.ts";
import { runningTurns } from "./turns.ts";

const DAY_MS = 86_400_000;

export async function teamActivity(asked: Asked): Promise<TeamActivity> {
  const { query, parameters, repository } = asked;
  const days = Math.max(1, parameters.number("days", 14, 366));
  const names = await query<{ id: number; name: string }>("SELECT id, name FROM repositories");
  const ids = new Map(names.map(({ id, name }) => [name, String(id)]));
  const chosen = names.find(({ id }) => id === repository);
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const rows =
    repository !== null && !chosen
      ? []
      : await activity(query, { from: day(days - 1), to: day(0), repository: chosen?.name });
  return {
    running: await runningTurns(asked),
    days: rows.map((row) => ({ ...row, repositoryId: ids.get(row.repository) ?? "" })),
  };
}
