/** Turns the lines that Aider appends to its history into lifecycle signs. */
import type { WatchReader, WatchSign } from "../../contract/agent.ts";
import { historyLine, isRequest } from "./transcript.ts";

export class HistoryReader implements WatchReader {
  read(bytes: Uint8Array): WatchSign[] {
    const signs: WatchSign[] = [];
    let prompt: string[] = [];
    const endPrompt = () => {
      const text = prompt.join("\n");
      if (isRequest(text)) signs.push({ sign: "prompt", text });
      prompt = [];
    };
    for (const text of Buffer.from(bytes).toString("utf8").split("\n")) {
      const line = historyLine(text);
      if (line.type === "prompt") {
        prompt.push(line.text);
        continue;
      }
      endPrompt();
      if (line.type === "session") signs.push({ sign: "session", id: line.id });
      else if (line.type !== "blank" && signs.at(-1)?.sign !== "work") signs.push({ sign: "work" });
    }
    endPrompt();
    return signs;
  }
}
