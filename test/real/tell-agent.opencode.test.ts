import { teller } from "./opencode.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
