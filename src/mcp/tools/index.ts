/** Every tool of the server, in the order in which an agent sees them. */
import * as z from "zod/v4";
import type { Tool } from "../tool.ts";
import { diff } from "./diff.ts";
import { propose_rewind, propose_undo } from "./propose.ts";
import { recall } from "./recall.ts";
import { last_green, savepoint } from "./states.ts";
import { turn, turns } from "./turns.ts";
import { why } from "./why.ts";

export const TOOLS: readonly Tool[] = [
  recall,
  why,
  turns,
  turn,
  diff,
  last_green,
  savepoint,
  propose_undo,
  propose_rewind,
];

/** The tools as `tools/list` answers them. */
export function describeTools(): object[] {
  return TOOLS.map(({ name, title, description, input, annotations }) => ({
    name,
    title,
    description,
    inputSchema: z.toJSONSchema(input),
    annotations: { title, ...annotations },
  }));
}
