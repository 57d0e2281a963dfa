/** A long history, made from a recorded one. */
import { appendFileSync, readFileSync } from "node:fs";
import type { Step } from "../../src/model/step.ts";
import type { TemporaryRepository } from "../../test/support/index.ts";

export function openSteps(place: TemporaryRepository): Step[] {
  return readFileSync(indexOf(place), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Step);
}

/** Repeats the newest turn, from its start to its end, under other ids and sessions. */
export function lengthen(place: TemporaryRepository, steps: number, sessions: number): void {
  const files = { added: [], modified: ["src/file-1.txt", "src/file-2.txt"], deleted: [] };
  const recorded = openSteps(place);
  const start = recorded.findLastIndex(({ kind }) => kind === "turn-start");
  const turn = recorded.slice(start).map((step) => ({ ...step, files }));
  const text: string[] = [];
  for (let i = 0; i < steps / turn.length; i++)
    for (const [k, step] of turn.entries()) {
      const session = `session-${i % sessions}`;
      const id = idOf(turn.length * i + k + 1);
      text.push(JSON.stringify({ ...step, id, session, turn: Math.floor(i / sessions) + 1 }));
    }
  appendFileSync(indexOf(place), `${text.join("\n")}\n`);
}

function indexOf(place: TemporaryRepository): string {
  return place.at(".git/backtrail/steps.jsonl");
}

/** Twelve letters from k to z. */
function idOf(number: number): string {
  const digits = [...number.toString(16).padStart(12, "0")];
  return digits.map((digit) => String.fromCharCode(107 + Number.parseInt(digit, 16))).join("");
}
