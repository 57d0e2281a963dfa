/** Homes in which a search has nothing, or only a line, to catch up on. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { started } from "./program.ts";

const LINES_OF_MEGABYTE = 4_000;

/** Indexes this many short transcripts. Returns their home directory. */
export async function manyFiles(home: string, files: number): Promise<string> {
  const place = join(home, `files-${files}`);
  for (let file = 0; file < files; file++) writeTranscript(place, file, 1);
  await started(place, "--rebuild");
  return place;
}

/** Indexes one long transcript. The function returned adds a line to it, and returns its home directory. */
export async function longTranscript(home: string, megabytes: number): Promise<() => string> {
  const place = join(home, `long-${megabytes}`);
  writeTranscript(place, 0, megabytes * LINES_OF_MEGABYTE);
  await started(place, "--rebuild");
  return () => {
    appendFileSync(pathOf(place, 0), line(0, "one more answer"));
    return place;
  };
}

function pathOf(place: string, file: number): string {
  return join(place, ".claude", "projects", `-work-${file % 100}`, `${idOf(file)}.jsonl`);
}

function idOf(file: number): string {
  return `${file.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
}

function writeTranscript(place: string, file: number, lines: number): void {
  mkdirSync(dirname(pathOf(place, file)), { recursive: true });
  const text = Array.from({ length: lines }, (_, number) => line(file, `line ${number} of the transcript`));
  writeFileSync(pathOf(place, file), text.join(""));
}

function line(file: number, text: string): string {
  const common = { type: "user", uuid: `${file}-${text}`, parentUuid: null, isSidechain: false, sessionId: idOf(file) };
  const message = { role: "user", content: text };
  return `${JSON.stringify({ ...common, cwd: "/work", timestamp: "2026-01-01T00:00:00.000Z", message })}\n`;
}
