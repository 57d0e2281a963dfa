/** Turns the lines that Aider appends to its history into lifecycle signs. */
import type { WatchReader, WatchSign } from "../../contract/agent.ts";
import { type HistoryLine, historyLine, isRequest } from "./transcript.ts";

export class HistoryReader implements WatchReader {
  /** Reports of a command such as `/add` are no work of a turn. */
  #isRequested = true;
  readonly #edits = new AnnouncedEdits();

  read(bytes: Uint8Array): WatchSign[] {
    const signs: WatchSign[] = [];
    let prompt: string[] = [];
    const endPrompt = () => {
      if (prompt.length === 0) return;
      const text = prompt.join("\n");
      this.#isRequested = isRequest(text);
      this.#edits.forget();
      if (this.#isRequested) signs.push({ sign: "prompt", text });
      prompt = [];
    };
    for (const text of Buffer.from(bytes).toString("utf8").split("\n")) {
      const line = historyLine(text);
      if (line.type === "prompt") {
        prompt.push(line.text);
        continue;
      }
      endPrompt();
      this.#edits.read(line);
      if (line.type === "session") {
        this.#isRequested = true;
        signs.push({ sign: "session", id: line.id });
      } else if (line.type !== "blank" && this.#isRequested) {
        if (signs.at(-1)?.sign === "work") signs.pop();
        signs.push({ sign: "work", ...(this.#edits.arePending ? { pending: true } : {}) });
      }
    }
    endPrompt();
    return signs;
  }
}

/**
 * Whether an answer has edits that Aider has not applied yet. Before it applies them it may ask ("Create new file?"),
 * and it writes nothing until its user has answered.
 */
class AnnouncedEdits {
  arePending = false;
  #before = "";
  #isInFence = false;

  forget(): void {
    this.arePending = false;
    this.#before = "";
    this.#isInFence = false;
  }

  read(line: HistoryLine): void {
    if (line.type === "answer") {
      const isFence = line.text.startsWith("```");
      const isFile = isFence && !this.#isInFence && FILE_NAME.test(this.#before);
      if (isFence) this.#isInFence = !this.#isInFence;
      if (isFile || line.text.startsWith("<<<<<<< SEARCH") || line.text.startsWith("```diff")) this.arePending = true;
      this.#before = line.text.trim();
    } else if (line.type === "report" && IS_DONE.test(line.text)) this.arePending = false;
  }
}

/** The line above a fence, in the formats that give whole files. */
const FILE_NAME = /^[`*#]{0,4} ?[^\s`*]{1,200}[`*:]{0,4}$/;
/** An edit was applied, refused by the user, or can't be applied; a question is written with its answer. */
const IS_DONE =
  /^(?:Applied edit to|Did not apply|\^C|Only \d+ reflections)|did not conform|(?:\?|\]:) (?:n|no|s|skip|d)$/i;
