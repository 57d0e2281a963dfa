import { expect, test } from "bun:test";
import fc from "fast-check";
import stringWidth from "fast-string-width";
import { makeStep } from "../../../test/support/steps.ts";
import type { Step } from "../../model/step.ts";
import { groupTurns, tasksOf } from "../../model/turn.ts";
import type { TurnStatuses } from "../../restore/targets/turn-status.ts";
import type { RestorePlan } from "../../restore/types.ts";
import type { SessionNode } from "../../run/sessions/model.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { colorDiff } from "./diff.ts";
import { fileLines, summaryOf } from "./files.ts";
import { table } from "./layout/table.ts";
import { fit, fitQuoted, pad, widthOf, wrap, wrapAfter, wrapMessage } from "./layout/text.ts";
import { age, moment } from "./layout/time.ts";
import { planFileLines } from "./plan/files.ts";
import { planLines } from "./plan/plan.ts";
import { sessionTreeLines } from "./sessions/list.ts";
import { stepDetails } from "./step/step.ts";
import { accessibleTimeline } from "./timeline/accessible.ts";
import { timeline } from "./timeline/timeline.ts";

const plain = (_style: unknown, text: string) => text;
const now = new Date("2026-01-05T12:00:00Z");
const none = { added: [], modified: [], deleted: [] };

test("ages as people say them", () => {
  const ago = (seconds: number) => age(new Date(now.getTime() - seconds * 1000).toISOString(), now);
  expect([5, 59, 60, 3_599, 3_600, 86_399, 86_400, 172_800, 40 * 86_400].map(ago)).toEqual([
    "just now",
    "just now",
    "1 min ago",
    "59 min ago",
    "1 h ago",
    "23 h ago",
    "yesterday",
    "2 days ago",
    "2025-11-26",
  ]);
  expect(ago(-3_600)).toBe("2026-01-05");
  expect(age("never", now)).toBe("at an unknown time");
  expect(moment("never")).toBe("never");
});

test("text of any script fits its columns", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 40 }), (text, width) => {
      expect(widthOf(fit(text, width))).toBeLessThanOrEqual(width);
      if (widthOf(text) <= width) expect(fit(text, width)).toBe(text);
      expect(widthOf(pad(fit(text, width), width))).toBe(width);
    }),
  );
  expect(fit("修复登录的问题", 7)).toBe("修复登…");
  expect(fit("anything", 0)).toBe("");
});

test("the width of colored lines with our symbols is what all of Unicode's rules give", () => {
  const part = fc.oneof(
    fc.constantFrom(
      "…",
      "│",
      "●",
      "○",
      "✓",
      "✗",
      "├",
      "└",
      "─",
      "\u001b[1m",
      "\u001b[38;5;4m",
      "\u001b[0m",
      "\u001b[2J",
      "\ufe0f",
      "\t",
    ),
    fc.string({ unit: "grapheme-ascii" }),
    fc.string({ unit: "grapheme" }),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => expect(widthOf(parts.join(""))).toBe(stringWidth(parts.join("")))),
    { numRuns: 1_000 },
  );
});

test("wrapping loses no word", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
      fc.integer({ min: 5, max: 40 }),
      (words, width) => {
        const lines = wrap(words.join(" "), width);
        expect(lines.join(" ").split(" ")).toEqual(words);
        for (const line of lines) expect(line.length <= width || !line.includes(" ")).toBe(true);
      },
    ),
  );
});

test("without a terminal nothing is cut or wrapped", () => {
  const long = "word ".repeat(100).trim();
  const endless = Number.POSITIVE_INFINITY;
  expect(table([["a", long]], endless)).toEqual([`a  ${long}`]);
  expect(fit(long, endless)).toBe(long);
  expect(wrap(long, endless)).toEqual([long]);
  expect(wrapMessage(long, endless)).toBe(long);
});

test("messages wrap between words; commands and laid-out lines stay whole", () => {
  expect(wrapMessage("hint: Move the file, or run `backtrail rewind last` again.", 36).split("\n")).toEqual([
    "hint: Move the file, or run",
    "`backtrail rewind last` again.",
  ]);
  const command = `  cd ${"deep/".repeat(20)} && claude --resume 1`;
  expect(wrapMessage(`Continue with:\n${command}`, 30)).toBe(`Continue with:\n${command}`);
  expect(wrapAfter("  ! ", "notes.md: it is ignored by git, so it is not recorded", 30)).toEqual([
    "  ! notes.md: it is ignored by",
    "    git, so it is not recorded",
  ]);
});

test("a table's last column takes the remaining width", () => {
  expect(
    table(
      [
        ["a", "bb", "c".repeat(50)],
        ["aaa", "b", "short"],
      ],
      20,
    ),
  ).toEqual(["a    bb  cccccccccc…", "aaa  b   short"]);
});

test("where the columns do not fit, rows flow over several lines", () => {
  const rows = [
    ["claude-code", "hooks installed", "not called yet", "local scope"],
    ["pi", "hooks outdated", "last called just now", "user scope"],
  ];
  expect(table(rows, 46, 2)).toEqual([
    "  claude-code  hooks installed  not called yet",
    "    local scope",
    "  pi  hooks outdated  last called just now",
    "    user scope",
  ]);
});

test("a quoted title that is cut keeps its closing quote", () => {
  expect(fitQuoted('the undo of "Cache the prices"', 24)).toBe('the undo of "Cache the…"');
  expect(fitQuoted('the undo of "Tax"', 24)).toBe('the undo of "Tax"');
  expect(fitQuoted("the redo of something long", 12)).toBe("the redo of…");
});

test("turns are gathered, single moments stand alone", () => {
  const task = (id: string, when: "start" | "end", agent: string) =>
    makeStep({ id, kind: "task", turn: 2, subagent: { id: agent, type: "Explore", description: "look around", when } });
  const steps: Step[] = [
    makeStep({ id: "a", kind: "turn-start", turn: 3, prompt: "third" }),
    makeStep({ id: "b", kind: "manual", name: "x", turn: 2 }),
    makeStep({ id: "c", kind: "turn-end", turn: 2 }),
    task("d", "end", "one"),
    task("e", "start", "two"),
    task("f", "start", "one"),
    makeStep({ id: "g", kind: "turn-start", turn: 2, prompt: "second" }),
    makeStep({ id: "h", kind: "baseline", turn: 0 }),
  ];
  const turns = groupTurns(steps);
  expect(turns.map(({ head, prompt, open }) => [head.id, prompt, open])).toEqual([
    ["a", "third", true],
    ["b", null, false],
    ["c", "second", false],
    ["h", null, false],
  ]);
  const second = turns[2];
  expect(second && tasksOf(second).map(({ id }) => id)).toEqual(["e", "d"]);
});

test("a timeline within 80 columns", () => {
  const long = "Rewrite the whole parser so that it reads every dialect there is, and then write tests for all of them";
  const steps = [
    makeStep({ id: "kkkkkkkkkkkk", kind: "safety", turn: 2, time: "2026-01-05T11:59:50Z" }),
    makeStep({
      id: "llllllllllll",
      turn: 2,
      prompt: long,
      time: "2026-01-05T11:57:00Z",
      interrupted: true,
      files: { ...none, modified: ["a", "b"], deleted: ["c"] },
    }),
    makeStep({
      id: "mmmmmmmmmmmm",
      kind: "task",
      turn: 2,
      subagent: { id: "s", type: "Explore", description: long, when: "end" },
      files: { ...none, added: ["d"] },
    }),
    makeStep({ id: "nnnnnnnnnnnn", kind: "turn-end", turn: 1, prompt: "Hello\nworld", time: "2026-01-04T11:00:00Z" }),
  ];
  const lines = timeline(groupTurns(steps), { columns: 80, paint: plain, now });
  expect(lines).toEqual([
    "◇ kkkkkkkkkkkk  just now   claude-code",
    "│ state before a restore",
    "● llllllllllll  3 min ago  claude-code  11111111  ~2 -1",
    "│ Rewrite the whole parser so that it reads every dialect there is, and then wr…",
    "│ a, b, c",
    "│ └ Explore: Rewrite the whole parser so that it reads every dialect there …  +1",
    "│ interrupted",
    "● nnnnnnnnnnnn  yesterday  claude-code  11111111",
    "  Hello world",
  ]);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80);
  for (let columns = 24; columns < 120; columns++) {
    for (const every of [false, true]) {
      const narrow = timeline(groupTurns(steps), { columns, paint: plain, now, steps: every });
      if (!every) for (const line of narrow) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      expect(narrow.join(" ")).toContain("llllllllllll");
    }
  }
});

test("status of turns: undone, rewound, forked, checked, and changed by hand before", () => {
  const steps = [
    makeStep({ id: "kkkkkkkkkkkk", turn: 2, prompt: "Second", files: { ...none, added: ["a.ts"] } }),
    makeStep({ id: "llllllllllll", turn: 2, kind: "turn-start", prompt: "Second" }),
    makeStep({ id: "mmmmmmmmmmmm", turn: 1, prompt: "First" }),
  ];
  const fork = { id: "o", name: "try", kind: "worktree", state: "ready", directory: "/tmp/try", branch: "try" };
  const fates: TurnStatuses = {
    of: ({ turn }) => (turn === 2 ? "undone" : "rewound"),
    turnsBack: ({ turn }) => (turn === 2 ? 1 : null),
    forks: (some) => (some.some(({ id }) => id === "mmmmmmmmmmmm") ? [fork as ForkRecord] : []),
    changedBefore: ({ id }) => id === "llllllllllll",
  };
  const view = { columns: 80, paint: plain, now, fates, verdictOf: ({ turn }: Step) => (turn === 2 ? "fail" : "pass") };
  expect(timeline(groupTurns(steps), view)).toEqual([
    "● kkkkkkkkkkkk  @1  3 h ago  claude-code  11111111  +1  ✗  undone",
    "│ Second",
    "│ a.ts",
    "│ files were changed by hand before",
    "● mmmmmmmmmmmm      3 h ago  claude-code  11111111  ✓  rewound",
    "  First",
    "  └ fork try: worktree /tmp/try",
  ]);
  const spoken = accessibleTimeline(groupTurns(steps), view);
  expect(spoken).toEqual([
    "Turn @1, claude-code, session 11111111, 3 h ago, step kkkkkkkkkkkk.",
    "Prompt: Second",
    "1 file added: a.ts.",
    "Files were changed by hand before.",
    "Check failed.",
    "This turn was undone.",
    "",
    "claude-code, session 11111111, 3 h ago, step mmmmmmmmmmmm.",
    "Prompt: First",
    "Check passed.",
    "This turn was rewound.",
    "Has a fork try: worktree /tmp/try.",
  ]);
  expect(spoken.join("")).toMatch(/^[\x20-\x7e]*$/);
});

test("one step in full", () => {
  const step = makeStep({
    prompt: "Do it",
    response: "Done",
    model: "m",
    tokens: { input: 9_999, output: 12_345, cacheRead: 150_000, cacheWrite: 0 },
    head: "a".repeat(40),
    files: { ...none, added: ["new\nline"] },
    snapshot: { ...makeStep({}).snapshot, notCaptured: [{ path: "big.iso", why: "too-large" }] },
  });
  const text = stepDetails(step, [step], { paint: plain, columns: 80, now }).join("\n");
  expect(text).toContain("tokens    9999 in, 12.3k out, 150k read from cache, 0 written to it");
  expect(text).toContain("commit    aaaaaaaaaaaa on main");
  expect(text).toContain("chat      none (no transcript found)");
  expect(text).toContain('  + "new\\nline"');
  expect(text).toContain("big.iso (too large)");
});

test("files are counted, and listed up to a limit", () => {
  expect(summaryOf({ added: ["a", "b"], modified: [], deleted: ["c"] }, plain)).toBe("+2 -1");
  const entries = ["a", "b", "c", "d"].map((path) => ({ path, change: "added" as const }));
  expect(fileLines(entries, plain, { limit: 3 })).toEqual(["  + a", "  + b", "  … and 2 more files"]);
  expect(fileLines(entries, plain, { limit: 4 })).toHaveLength(4);
});

test("diffs are colored line by line, and contain no escapes from files", () => {
  const painted = colorDiff(
    "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\u001b[31m\n same",
    (style, text) => `<${String(style)}>${text}`,
  );
  expect(painted.split("\n")).toEqual([
    "<bold>diff --git a/x b/x",
    "<cyan>@@ -1 +1 @@",
    "<red>-old",
    "<green>+new",
    " same",
  ]);
});

test("a cut list shows the user's own files and the rarest changes", () => {
  const write = ["b", "c", "d", "e", "yours"];
  const files = { write, create: ["b", "c", "d", "e"], delete: ["z"], chmod: [] };
  const yours = [{ path: "yours", since: "2026-01-05T09:01:00Z", kept: false }];
  const plan = { ...files, yours, kind: "redo", options: {} } as unknown as RestorePlan;
  const shown = (limit: number) =>
    planFileLines(plan, { paint: plain, columns: 80, now, limit }).map((line) => line.trim().slice(0, 7));
  expect(shown(4).slice(1, 4)).toEqual(["~ yours", "- z", "+ b"]);
  expect(shown(9).slice(1, 7)).toEqual(["~ yours", "+ b", "+ c", "+ d", "+ e", "- z"]);
});

test("narrow windows break a step's facts, a plan's headline and a session's facts between words", () => {
  const step = {
    ...makeStep({}),
    kind: "turn-end" as const,
    session: "s".repeat(20),
    prompt: "Bring the walrus to the pond",
  };
  const node = {
    ...{ id: step.session, agent: "claude-code", prompt: step.prompt, status: "waiting", updatedAt: step.time },
    ...{
      turns: 2,
      steps: 5,
      recorded: true,
      log: null,
      imported: false,
      tags: ["fish"],
      cost: null,
      tasks: [],
      children: [],
    },
  } as unknown as SessionNode;
  const turn = { agent: "claude-code", back: 1, last: step, subagent: null, prompt: step.prompt };
  const targets = [
    { kind: "step", step },
    { kind: "turns", turns: [turn] },
    { kind: "turns", turns: [turn, turn] },
  ];
  for (let columns = 36; columns < 100; columns++) {
    const view = { paint: plain, columns, now };
    const none = { rows: 20, all: false };
    const plans = targets.flatMap((target) => {
      const plan = {
        ...{ kind: target.kind === "step" ? "rewind" : "undo", target, turns: [], yours: [] },
        write: [],
        delete: [],
      };
      const rest = {
        chmod: [],
        create: [],
        notUndone: [],
        conflicts: [],
        chat: { kind: "none", reason: { kind: "undo-only" } },
      };
      return planLines({ ...plan, ...rest, options: {} } as unknown as RestorePlan, { ...view, ...none });
    });
    const sessions = sessionTreeLines([node], { ...view, ids: new Map([[node, "ssssssss"]]), hits: new Map() });
    for (const line of [...plans, ...sessions, ...stepDetails(step, [step], view)])
      expect([line, widthOf(line) <= columns]).toEqual([line, true]);
  }
});
