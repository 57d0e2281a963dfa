import { driver, prompt } from "./claude-code.ts";
import { asksBacktrail } from "./mcp.ts";
import { toolUse } from "./server/scenario.ts";

await asksBacktrail({
  driver,
  ask: (tool, input) => toolUse(`mcp__backtrail__${tool}`, input),
  turn: (rig, text, session) =>
    prompt(rig, text, "--allowedTools", "mcp__backtrail", ...(session ? ["--resume", session] : [])),
});
