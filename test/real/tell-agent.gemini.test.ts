import { teller } from "./gemini.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
