import { teller } from "./pi.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
