import { teller } from "./factoryai-droid.ts";
import { tellsTheAgent } from "./tell-agent.ts";

await tellsTheAgent(teller);
