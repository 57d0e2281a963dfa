import { teller } from "./codex.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
