/** `team search <words>`: the same as `search --team`, with filters. */

import type { OptionsOf } from "../../program/spec.ts";
import type { Io } from "../../terminal/io.ts";
import { searchTeam } from "../search/team.ts";
import type { teamSearchCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamSearchCommand>;

export function run({ words, json, ...filter }: Options, io: Io): Promise<number> {
  const { repository, person, agent, limit } = filter;
  return searchTeam({ text: words.join(" "), repository, person, agent, limit }, json === true, io);
}
