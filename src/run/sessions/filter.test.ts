import { expect, test } from "bun:test";
import { filterOf, matches, pruned } from "./filter.ts";
import { shortIds } from "./find.ts";
import { inOrder, type SessionNode } from "./model.ts";

const NOW = new Date("2026-11-17T12:00:00Z");

export function node(id: string, more: Partial<SessionNode> = {}): SessionNode {
  return {
    id,
    agent: "claude-code",
    status: "completed",
    parent: null,
    prompt: "",
    model: null,
    tags: [],
    startedAt: "2026-11-16T10:00:00.000Z",
    updatedAt: "2026-11-16T11:00:00.000Z",
    turns: 1,
    steps: 0,
    tokens: null,
    cost: null,
    worktree: null,
    log: null,
    recorded: false,
    imported: false,
    tasks: [],
    children: [],
    ...more,
  };
}

test("since is about the last sign of a session, until about its beginning", async () => {
  const held = async (words: { since?: string; until?: string }) => matches(await filterOf(words, NOW), node("a"));
  expect(await held({ since: "2026-11-16T10:30:00Z" })).toBe(true);
  expect(await held({ since: "2026-11-16T11:30:00Z" })).toBe(false);
  expect(await held({ until: "2026-11-16T10:30:00Z" })).toBe(true);
  expect(await held({ until: "2026-11-16T09:30:00Z" })).toBe(false);
});

test("whoever is left without their parent moves up", () => {
  const tree = [node("a", { children: [node("b", { children: [node("c"), node("d")] })] })];
  const left = pruned(tree, ({ id }) => id !== "b");
  expect(left.map(({ id, children }) => [id, children.map((child) => child.id)])).toEqual([["a", ["c", "d"]]]);
  expect(inOrder(pruned(tree, ({ id }) => id > "b")).map(({ id }) => id)).toEqual(["c", "d"]);
});

test("ids are shown as short as they are unique", () => {
  const nodes = ["0199aaaa-1111-x", "0199aaaa-1112-y", "ses_1", "ffffffffffff"].map((id) => node(id));
  expect(nodes.map((each) => shortIds(nodes).get(each))).toEqual([
    "0199aaaa-1111",
    "0199aaaa-1112",
    "ses_1",
    "ffffffff",
  ]);
});
