/** `team search <words>`: the same as `search --team`, with filters. */
import type { Io } from "../../terminal/io.ts";
import { searchTeam } from "../search/team.ts";

interface Options {
  words: string[];
  repository?: string;
  person?: string;
  agent?: string;
  limit?: number;
  json?: boolean;
}

export function run({ words, json, ...filter }: Options, io: Io): Promise<number> {
  const { repository, person, agent, limit } = filter;
  return searchTeam({ text: words.join(" "), repository, person, agent, limit }, json === true, io);
}
