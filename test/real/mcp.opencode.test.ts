import { asksBacktrail } from "./mcp.ts";
import { driver } from "./opencode.ts";
import { toolUse } from "./server/scenario.ts";

await asksBacktrail({ driver, ask: (tool, input) => toolUse(`backtrail_${tool}`, input) });
