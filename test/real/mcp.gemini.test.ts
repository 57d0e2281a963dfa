import { driver } from "./gemini.ts";
import { asksBacktrail } from "./mcp.ts";
import { toolUse } from "./server/scenario.ts";

await asksBacktrail({ driver, ask: (tool, input) => toolUse(`mcp_backtrail_${tool}`, input) });
