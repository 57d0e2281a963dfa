/**
 * The first program inside the sandbox: checks that it is one, runs the model server, says where, and ends
 * with its standard input, so that nothing outlives the tests that started it.
 *
 * Usage: inside.ts <scenarios.json> <received.jsonl>
 */
import { readFileSync } from "node:fs";
import { interfaces, raiseLoopback } from "./loopback.ts";
import { anthropic } from "./server/anthropic.ts";
import { gemini } from "./server/gemini.ts";
import { openaiChat } from "./server/openai-chat.ts";
import { openaiResponses } from "./server/openai-responses.ts";
import { Received } from "./server/received.ts";
import type { Scenario } from "./server/scenario.ts";
import { startServer } from "./server/server.ts";

async function main(scenariosPath: string, receivedPath: string): Promise<void> {
  const others = interfaces().filter((name) => name !== "lo");
  if (others.length > 0) throw new Error(`not isolated: there is ${others.join(", ")}`);
  raiseLoopback();
  const scenarios = JSON.parse(readFileSync(scenariosPath, "utf8")) as Scenario[];
  const server = await startServer({
    protocols: [anthropic, gemini, openaiChat, openaiResponses],
    scenarios,
    received: new Received(receivedPath),
  });
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  for await (const _ of process.stdin);
  process.exit(0);
}

const [scenariosPath = "", receivedPath = ""] = process.argv.slice(2);
await main(scenariosPath, receivedPath);
