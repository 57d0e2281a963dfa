import { teller } from "./copilot-cli.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
