/**
 * What holds for the transcripts of every agent, torn, damaged or cut anywhere, and for their forks. Each agent's own
 * expectations are in its directory.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ForkRequest, ForkResult } from "../../src/agents/contract/agent.ts";
import { agentOfTranscript } from "../../src/agents/registry/detect.ts";
import { listAgents } from "../../src/agents/registry/registry.ts";
import { jsonl, recordedOf } from "./recorded.ts";

interface Row {
  id: string;
  /** Where its transcripts lie, a session's id there, and its project. */
  transcriptPath: string;
  projectRoot: string;
  /** What marks an entry, in a line. */
  entryId(line: Record<string, unknown>): unknown;
  /** A fork that is no transcript but one document, which the agent takes in. */
  document?: true;
  /** The fork's title, where it has one. */
  title?(fork: ForkResult): unknown;
  /** Ids that the agent would not take, besides those that lead out of a directory; null where it makes its own. */
  otherIds: string[] | null;
}

const NEW_ID = "99999999-9999-4999-8999-999999999999";
const ids = (line: Record<string, unknown>) => line["id"];

const ROWS: Row[] = [
  {
    id: "claude-code",
    transcriptPath: "/home/dev/.claude/projects/-home-dev-project/2.jsonl",
    projectRoot: "/home/dev/project",
    entryId: (line) => line["uuid"],
    title: ({ content }) => lastOf(content)?.["customTitle"],
    otherIds: ["a.b"],
  },
  {
    id: "codex",
    transcriptPath:
      "/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T03-19-23-01a1e25d-d997-7812-86ef-732b92154785.jsonl",
    projectRoot: "/home/dev/project",
    entryId: (line) => line["ordinal"],
    otherIds: ["a.b", "a-name", NEW_ID.replace(/9/g, "G")],
  },
  {
    id: "copilot-cli",
    transcriptPath: "/home/dev/.copilot/session-state/34b0095b-504f-436b-8ce5-8b74058fe603/events.jsonl",
    projectRoot: "/home/dev/project",
    entryId: ids,
    title: ({ files }) => {
      const text = Buffer.from(files?.[0]?.content ?? []).toString("utf8");
      return JSON.parse(/^name: (.*)$/m.exec(text)?.[1] ?? "null") as unknown;
    },
    otherIds: ["a.b", "name"],
  },
  {
    id: "factoryai-droid",
    transcriptPath: "/home/dev/.factory/sessions/-home-dev-project/710c9ac7-bb12-48b9-8983-dffb71652da3.jsonl",
    projectRoot: "/home/dev/project",
    entryId: ids,
    title: ({ content }) => firstOf(content)?.["title"],
    otherIds: ["a.b", "name"],
  },
  {
    id: "gemini",
    transcriptPath: "/home/dev/.gemini/tmp/proj/chats/session-2026-11-16T03-25-ae1f9fe3.jsonl",
    projectRoot: "/home/dev/main/proj",
    entryId: ids,
    title: ({ content }) => firstOf(content)?.["summary"],
    otherIds: ["a.b", "99999999-../../../aaaaaaaa"],
  },
  {
    id: "opencode",
    transcriptPath: "/home/dev/proj/.git/backtrail/opencode/ses_e16fb61ceffeMnH8aMVcBOAJrO.jsonl",
    projectRoot: "/home/dev/proj",
    entryId: (line) => (line["info"] as { id?: string } | undefined)?.id,
    document: true,
    title: ({ content }) => (firstOf(content)?.["info"] as { title?: string } | undefined)?.title,
    otherIds: null,
  },
  {
    id: "pi",
    transcriptPath:
      "/home/dev/.pi/agent/sessions/--home-dev-proj--/2026-11-17T10-42-11-244Z_01a1e919-98ab-7428-9c2c-40a63de699d5.jsonl",
    projectRoot: "/home/dev/proj",
    entryId: ids,
    title: ({ content }) => lastOf(content)?.["name"],
    otherIds: ["-a", "a b", "a/"],
  },
];

ROWS.push({
  id: "kilo",
  transcriptPath: "/home/dev/proj/.git/backtrail/kilo/ses_e0f871302ffexpnDHTCB3Q2v5I.jsonl",
  projectRoot: "/home/dev/proj",
  entryId: (line) => (line["info"] as { id?: string } | undefined)?.id,
  document: true,
  title: ({ content }) => (firstOf(content)?.["info"] as { title?: string } | undefined)?.title,
  otherIds: null,
});
ROWS.push({
  id: "kimi-code",
  transcriptPath:
    "/home/dev/.kimi-code/sessions/wd_project_644774e1d4f0/session_439d30bc-5a0a-4d43-9a06-3d579a389b2b/agents/main/wire.jsonl",
  projectRoot: "/home/dev/project",
  entryId: (line) => line["promptId"],
  otherIds: null,
});
ROWS.push({
  id: "qwen",
  transcriptPath: "/home/dev/.qwen/projects/-home-dev-project/chats/adbb29c2-0c18-4a04-858a-6c28bf4a88f6.jsonl",
  projectRoot: "/home/dev/project",
  entryId: (line) => line["uuid"],
  otherIds: ["a.b"],
});

const profiles = (await listAgents()).map((agent) => agent.profile);

for (const row of ROWS) {
  const { analyzer, forker, transcript, transcriptNames, linesOf } = await recordedOf(row.id, ["analyzer", "forker"]);
  const conversations = transcriptNames.filter((name) => name !== "subagent");
  const longest = transcriptNames.map(transcript).reduce((a, b) => (b.length > a.length ? b : a));

  const fork = (changes: Partial<ForkRequest> = {}) =>
    forker.fork({
      bytes: longest,
      lastId: null,
      transcriptPath: row.transcriptPath,
      newSessionId: NEW_ID,
      projectRoot: row.projectRoot,
      title: "Please do it",
      ...changes,
    });

  describe(row.id, () => {
    test("its transcripts are recognized by their content alone", () => {
      for (const name of transcriptNames) {
        expect([name, agentOfTranscript(profiles, transcript(name))]).toEqual([name, row.id]);
      }
    });

    test("a torn last line waits for its rest", () => {
      for (const name of transcriptNames) {
        const torn = transcript(name).subarray(0, -20);
        expect(analyzer.readSlice(torn, 1_000).end).toBe(1_000 + torn.lastIndexOf(10) + 1);
      }
    });

    test("damage never makes it throw, and gives a fork of whole lines or none", () => {
      const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 30 });
      fc.assert(
        fc.property(fc.constantFrom(...transcriptNames), damage, fc.nat(), (name, hits, cut) => {
          const bytes = Buffer.from(transcript(name));
          for (const [at, value] of hits) bytes[at % bytes.length] = value;
          const torn = bytes.subarray(0, cut % (bytes.length + 1));
          const slice = analyzer.readSlice(torn, 7);
          expect(slice.end).toBe(7 + torn.lastIndexOf(10) + 1);
          expect(Object.values(slice.tokens).every((count) => count >= 0)).toBe(true);
          analyzer.read(torn);
          for (const lastId of [null, slice.lastId]) expectWhole(fork({ bytes: torn, lastId }).content);
        }),
        { numRuns: 100 },
      );
    });

    test("cut anywhere, a fork can be read again", () => {
      forEachCut((content) => {
        expectWhole(content);
        if (!row.document) expect(analyzer.readSlice(content, 0).end).toBe(content.length);
      });
    });

    // One that is a document tells its calls in a way of its own.
    const testCalls: typeof test | (() => void) = row.document ? () => {} : test;
    testCalls("no call is left without its result, wherever it is cut", () => {
      forEachCut((content) => {
        const { entries } = analyzer.read(content);
        const used = entries.filter(({ type }) => type === "tool-use").map(({ toolUseId }) => toolUseId);
        const answered = new Set(
          entries.filter(({ type }) => type === "tool-result").map(({ toolUseId }) => toolUseId),
        );
        expect(used.filter((id) => !answered.has(id))).toEqual([]);
      });
    });

    test("a conversation that had not begun has nothing to fork", () => {
      for (const text of ["", "not JSON\n", '{"type":"nothing","uuid":"x"}\n']) {
        expect(fork({ bytes: Buffer.from(text) }).content).toHaveLength(0);
      }
    });

    const testTitle: typeof test | (() => void) = row.title ? test : () => {};
    testTitle("a fork's title is one line, short, and has its prefix once", () => {
      const title = (text: string) => String(row.title?.(fork({ title: text })));
      expect(title("[Fork] [Fork] again")).toBe("[Fork] again");
      expect(title('two\nlines: "quoted" \u001b[31mred')).toBe('[Fork] two lines: "quoted" red');
      expect(title("")).toBe("[Fork]");
      expect(title("long ".repeat(50)).length).toBeLessThanOrEqual(80);
    });

    const testIds: typeof test | (() => void) = row.otherIds ? test : () => {};
    testIds("a new id never leads out of the directory, and the agent would take it", () => {
      for (const newSessionId of ["../x", "a/b", "", ...(row.otherIds ?? [])]) {
        expect(() => fork({ newSessionId })).toThrow("can't be the id");
      }
    });
  });

  /** The fork of every beginning of every conversation, and of every conversation up to each of its entries. */
  function forEachCut(look: (content: Uint8Array) => void): void {
    for (const name of conversations) {
      const bytes = transcript(name);
      const lines = linesOf(bytes);
      for (let count = 0; count <= lines.length; count++) look(fork({ bytes: jsonl(lines.slice(0, count)) }).content);
      for (const id of new Set(lines.map(row.entryId))) {
        if (id !== undefined) look(fork({ bytes, lastId: String(id) }).content);
      }
    }
  }

  function expectWhole(content: Uint8Array): void {
    if (row.document && content.length > 0) JSON.parse(Buffer.from(content).toString("utf8"));
    else expect(content.length === 0 || content.at(-1) === 10).toBe(true);
  }
}

test("an unknown transcript belongs to no agent", () => {
  const foreign = Buffer.from('{"type":"session","id":"x"}\n{"role":"user"}\n');
  expect(agentOfTranscript(profiles, foreign)).toBeUndefined();
});

function firstOf(content: Uint8Array): Record<string, unknown> | undefined {
  return parsed(content)[0];
}

function lastOf(content: Uint8Array): Record<string, unknown> | undefined {
  return parsed(content).at(-1);
}

function parsed(content: Uint8Array): Record<string, unknown>[] {
  const lines = Buffer.from(content).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
}
