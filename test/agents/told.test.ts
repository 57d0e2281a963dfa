/** A conversation's copy that ends with an account of what was undone: the copy as it would be without, and one entry more. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getAgent } from "../../src/agents/registry/registry.ts";

const ACCOUNT = 'The user took turn 2 back.\n"Why": it was <wrong> \\ – and long.';
const AGENTS_WITH_NOTICE = [
  "claude-code",
  "codex",
  "copilot-cli",
  "factoryai-droid",
  "gemini",
  "opencode",
  "kilo",
  "pi",
  "qwen",
  "kimi-code",
];

for (const id of AGENTS_WITH_NOTICE) {
  test(`${id}: one entry is added, and nothing else is different`, async () => {
    const forker = (await getAgent(id))?.forker;
    const directory = join(import.meta.dirname, id, "transcripts");
    let forks = 0;
    for (const name of readdirSync(directory).filter((file) => file.endsWith(".jsonl"))) {
      const request = {
        bytes: readFileSync(join(directory, name)),
        lastId: null,
        transcriptPath: join("/home/dev/sessions/-home-dev-project", name),
        newSessionId: "0d2e7a52-6c1f-4a39-9d0b-53b1f9a8c7e6",
        projectRoot: "/home/dev/project",
        title: "Title",
      };
      const plain = forker?.fork(request);
      const told = forker?.fork({ ...request, account: ACCOUNT });
      if (!plain || !told || plain.content.length === 0) continue;
      forks++;
      expect([plain.told ?? false, told.told]).toEqual([false, true]);
      const [without, including] = [entriesOf(plain.content), entriesOf(told.content)];
      const added = including.filter((entry) => JSON.stringify(entry).includes(JSON.stringify(ACCOUNT).slice(1, -1)));
      expect(added).toHaveLength(1);
      const left = including.filter((entry) => entry !== added[0]);
      expect(left.map(shape)).toEqual(without.map(shape));
    }
    expect(forks).toBeGreaterThan(0);
  });
}

test("an agent without an adapter can't be notified, and the result says so", async () => {
  const bytes = readFileSync(join(import.meta.dirname, "cursor/transcripts", cursorTranscript()));
  const forked = (await getAgent("cursor"))?.forker?.fork({
    bytes,
    lastId: null,
    transcriptPath: "/home/dev/agent-transcripts/old/old.jsonl",
    newSessionId: "0d2e7a52-6c1f-4a39-9d0b-53b1f9a8c7e6",
    projectRoot: "/home/dev/project",
    title: "Title",
    account: ACCOUNT,
  });
  expect(forked?.told ?? false).toBe(false);
});

function cursorTranscript(): string {
  const [name] = readdirSync(join(import.meta.dirname, "cursor/transcripts"), {
    recursive: true,
    encoding: "utf8",
  }).filter((file) => file.endsWith(".jsonl"));
  return name ?? "";
}

/** Lines; or, of one document, its messages. */
function entriesOf(content: Uint8Array): unknown[] {
  const lines = Buffer.from(content)
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines.length === 1 ? lines[0].messages : lines;
}

/** Without times, which differ from fork to fork, and where a title's line hangs. */
function shape(entry: unknown): string {
  return JSON.stringify(entry, (key, value) =>
    /^(?:timestamp|startTime|lastUpdated|created|updated|id|sessionID|messageID|parentID|parentId)$/.test(key)
      ? 0
      : value,
  );
}
