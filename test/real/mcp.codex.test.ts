import { driver } from "./codex.ts";
import { asksBacktrail } from "./mcp.ts";
import { toolUse } from "./server/scenario.ts";

/** The model writes scripts, which call the tools. */
await asksBacktrail({
  driver,
  ask: (tool, input) =>
    toolUse("exec", { input: `text(await tools.mcp__backtrail__${tool}(${JSON.stringify(input)}));` }),
});
