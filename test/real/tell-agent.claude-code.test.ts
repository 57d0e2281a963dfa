import { teller } from "./claude-code.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
