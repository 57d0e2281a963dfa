/** `mcp`: serves the record to an agent on standard input and output. */
import { UserError } from "../../../base/errors.ts";
import type { Io } from "../../terminal/io.ts";

export async function run(_options: object, io: Io): Promise<undefined> {
  if (io.interactive)
    throw new UserError(
      "usage",
      "`backtrail mcp` talks to an agent, not to a terminal.",
      "Agents start it after `backtrail enable --mcp`.",
    );
  const { serve } = await import("../../../mcp/serve.ts");
  await serve(io.cwd);
}
