import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../test/support/index.ts";
import type { TranscriptAnalyzer } from "../../agents/contract/agent.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { openIndex } from "../index/open.ts";
import { SearchIndex } from "../index/store.ts";
import { indexTranscript } from "./transcript.ts";
import { storedTranscript } from "./transcript-bytes.ts";

const REDACTION = {
  transcript: (bytes: Buffer) => ({ bytes, originalOffset: (offset: number) => offset }),
  text: (text: string) => text,
};

test("a transcript that can't be read takes no other one of its batch out of the index", async () => {
  using place = temporaryDirectory();
  const analyzer = (await getAgent("claude-code"))?.analyzer as TranscriptAnalyzer;
  const index = new SearchIndex(openIndex(`${place.path}/index.db`));
  let bytes = 0;
  const add = (session: string, reader: TranscriptAnalyzer) => {
    const line = JSON.stringify({ type: "user", uuid: session, message: { role: "user", content: session } });
    const source = { agent: "claude-code", session, part: "", repository: null, store: null, origin: session };
    const keepsGoing = (read: number) => {
      bytes += read;
      return false;
    };
    const found = storedTranscript(Buffer.from(`${line}\n`), 1);
    return indexTranscript(index, { ...source, isDocument: false }, found, reader, REDACTION, { keepsGoing });
  };
  const broken = {
    ...analyzer,
    read() {
      throw new Error("unreadable");
    },
  };
  index.beginBatch();
  expect(add("one", analyzer)).toBe(true);
  expect(() => add("two", broken)).toThrow("unreadable");
  expect(add("three", analyzer)).toBe(true);
  index.endBatch();
  expect(index.conversations().map(({ session }) => session)).toEqual(["one", "three"]);
  // What is read counts for the progress, of short transcripts, too.
  expect(bytes).toBeGreaterThan(100);
  index.close();
});
