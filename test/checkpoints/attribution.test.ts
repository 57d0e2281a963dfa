/** Lines and the turns they came from, in real repositories with real snapshots. */

import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { lineCount, lineMark } from "../../src/checkpoints/format/layout.ts";
import {
  attributeCommit,
  attributionOf,
  type CommitAttribution,
  initialAttribution,
} from "../../src/checkpoints/write/attribution.ts";
import { AGENT, recordedRepository } from "./recorded.ts";

const FETCHED = { madeHere: false };

/** "text: turn" for every line that the commit brought. */
function told(attribution: CommitAttribution, path: string): string[] {
  const file = attribution.files.find((each) => each.path === path);
  return (file?.added ?? []).map(
    ({ text, author }) => `${text}: ${author ? `${author.session} ${author.turn}` : "user"}`,
  );
}

describe("a commit's lines", () => {
  test("belong to the turns in which they appeared, and between turns to the user", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "by one\n"));
    repository.write("a.txt", "by user\nby one\n");
    await place.turn("s", 2, "two", () => repository.write("a.txt", "by user\nby one\nby two\n"));
    repository.write("a.txt", "by user\nby one\nby two\nat last by user\n");
    const commit = place.commit("work");
    const attribution = await attributeCommit(workspace, commit);
    expect(told(attribution, "a.txt")).toEqual([
      "by user: user",
      "by one: s 1",
      "by two: s 2",
      "at last by user: user",
    ]);
    expect(initialAttribution(attribution, "2026-01-05T10:00:00.000Z")).toEqual({
      calculated_at: "2026-01-05T10:00:00.000Z",
      agent_lines: 2,
      human_added: 2,
      human_modified: 0,
      human_removed: 0,
      total_committed: 4,
      agent_percentage: 50,
    });
  });

  test("a commit by the agent in the middle of its turn is that turn's", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.step("turn-start", "s", 1);
    repository.write("a.txt", "written\n");
    const commit = place.commit("by the agent");
    await place.step("turn-end", "s", 1);
    expect(told(await attributeCommit(workspace, commit), "a.txt")).toEqual(["written: s 1"]);
  });

  test("and stays the author when the agent continues with the file", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "before\n"));
    await place.step("turn-start", "s", 2);
    repository.write("a.txt", "before\nwritten\n");
    const commit = place.commit("by the agent");
    repository.write("a.txt", "all is new\n");
    await place.step("turn-end", "s", 2);
    expect(told(await attributeCommit(workspace, commit), "a.txt")).toEqual(["before: s 1", "written: s 2"]);
  });

  test("a second commit in the same turn is the turn's as far as the turn's end shows it", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.step("turn-start", "s", 1);
    repository.write("a.txt", "one\n");
    place.commit("one");
    repository.write("a.txt", "one\ntwo\n");
    const second = place.commit("two");
    repository.write("a.txt", "one\ntwo\nthree\n");
    await place.step("turn-end", "s", 1);
    expect(told(await attributeCommit(workspace, second, FETCHED), "a.txt")).toEqual(["two: s 1"]);
  });

  test("a colleague's commit that was made while a turn ran here is not the turn's", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.step("turn-start", "s", 1);
    repository.git("checkout", "--quiet", "--orphan", "theirs");
    repository.write("theirs.txt", "theirs\n");
    const commit = place.commit("by a colleague");
    repository.git("checkout", "--quiet", "main");
    await place.step("turn-end", "s", 1);
    repository.git("merge", "--quiet", "--allow-unrelated-histories", "--message", "pulled", "theirs");
    expect(told(await attributeCommit(workspace, commit, FETCHED), "theirs.txt")).toEqual(["theirs: user"]);
  });

  test("nor is an older commit that was fetched while the turn ran", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    repository.git("checkout", "--quiet", "-b", "theirs");
    repository.write("theirs.txt", "theirs\n");
    const commit = place.commit("by a colleague");
    repository.git("checkout", "--quiet", "main");
    await place.step("turn-start", "s", 1);
    repository.git("merge", "--quiet", "--ff-only", "theirs");
    repository.write("own.txt", "own\n");
    await place.step("turn-end", "s", 1);
    expect(told(await attributeCommit(workspace, commit, FETCHED), "theirs.txt")).toEqual(["theirs: user"]);
    expect(told(await attributeCommit(workspace, place.commit("own")), "own.txt")).toEqual(["own: s 1"]);
  });

  test("a state that was recorded earlier has the authors of then", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "by one\n"));
    repository.git("add", "a.txt");
    await place.turn("s", 2, "two", () => repository.write("a.txt", "by two\n"));
    expect(told(await attributeCommit(workspace, place.commitStaged("as staged")), "a.txt")).toEqual(["by one: s 1"]);
  });

  test("steps on the commit's parent count, even where the commit's time is before them", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "by one\n"));
    repository.write("a.txt", "by one\nmine\n");
    const commit = repository.commit("dated long ago");
    repository.write("a.txt", "by nobody\n");
    await place.turn("s", 2, "two", () => repository.write("a.txt", "all is new\n"));
    expect(told(await attributeCommit(workspace, commit), "a.txt")).toEqual(["by one: s 1", "mine: user"]);
  });

  test("only the lines that a part of the changes adds are attributed", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    repository.write("a.txt", "first\nlast\n");
    place.commit("before");
    await place.turn("s", 1, "one", () => repository.write("a.txt", "new at the top\nfirst\nlast\nnew below\n"));
    repository.write("staged.txt", "first\nlast\nnew below\n");
    const blob = repository.git("hash-object", "-w", "staged.txt");
    repository.git("update-index", "--cacheinfo", `100644,${blob},a.txt`);
    const commit = place.commitStaged("a part of it");
    expect(told(await attributeCommit(workspace, commit), "a.txt")).toEqual(["new below: s 1"]);
  });

  test("two sessions at once: each has the files that it says it changed", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    const files = (path: string) => ({ files: { added: [path], modified: [], deleted: [] } });
    await place.step("turn-start", "left", 1);
    await place.step("turn-start", "right", 1);
    repository.write("left.txt", "left\n");
    repository.write("right.txt", "right\n");
    await place.step("turn-end", "left", 1, files("left.txt"));
    await place.step("turn-end", "right", 1, files("right.txt"));
    const attribution = await attributeCommit(workspace, place.commit("both"));
    expect(told(attribution, "left.txt")).toEqual(["left: left 1"]);
    expect(told(attribution, "right.txt")).toEqual(["right: right 1"]);
    expect(attributionOf(attribution, { agent: AGENT, session: "right" }).map(({ path }) => path)).toEqual([
      "right.txt",
    ]);
  });

  test("a line keeps its turn when its file is renamed", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("old.txt", "a\nb\nc\n"));
    await place.turn("s", 2, "two", () => {
      repository.git("mv", "--force", "README.md", "kept.md");
      repository.write("new.txt", "a\nb\nc\nd\n");
      rmSync(repository.at("old.txt"));
    });
    expect(told(await attributeCommit(workspace, place.commit("renamed")), "new.txt")).toEqual([
      "a: s 1",
      "b: s 1",
      "c: s 1",
      "d: s 2",
    ]);
  });

  test("a commit that renames a file adds only the lines that are new in it", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    repository.write("old.txt", "a\nb\nc\n");
    place.commit("before");
    await place.turn("s", 1, "one", () => {
      repository.git("mv", "old.txt", "new.txt");
      repository.write("new.txt", "a\nb\nc\nd\n");
    });
    expect(told(await attributeCommit(workspace, place.commit("renamed")), "new.txt")).toEqual(["d: s 1"]);
  });

  test("undone and redone lines have their author again", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "by one\n"));
    rmSync(repository.at("a.txt"));
    await place.step("safety", "s", 1);
    repository.write("a.txt", "by one\n");
    await place.step("safety", "s", 1);
    repository.write("a.txt", "by one\nmine\n");
    expect(told(await attributeCommit(workspace, place.commit("again")), "a.txt")).toEqual([
      "by one: s 1",
      "mine: user",
    ]);
  });

  test("what the user removes and changes is counted as theirs", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    repository.write("a.txt", "1\n2\n3\n4\n");
    place.commit("before");
    await place.turn("s", 1, "one", () => repository.write("a.txt", "1\n2\n3\n4\n5\n"));
    repository.write("a.txt", "one\n3\n4\n5\n");
    const totals = initialAttribution(await attributeCommit(workspace, place.commit("changed")), "");
    expect(totals).toMatchObject({
      agent_lines: 1,
      human_added: 0,
      human_modified: 1,
      human_removed: 1,
      total_committed: 2,
      agent_percentage: 50,
    });
  });

  test("files without lines are left out, and a commit without a turn has no author", async () => {
    using place = await recordedRepository();
    place.repository.write("image.bin", Uint8Array.of(1, 0, 2));
    place.repository.write("a.txt", "mine\n");
    const attribution = await attributeCommit(place.workspace, place.commit("mine"));
    expect(attribution.files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(told(attribution, "a.txt")).toEqual(["mine: user"]);
  });

  test("ranges join lines of one turn that stand together, with a mark for each", async () => {
    using place = await recordedRepository();
    const { repository, workspace } = place;
    await place.turn("s", 1, "one", () => repository.write("a.txt", "a\nb\nz\n"));
    await place.turn("s", 2, "two", () => repository.write("a.txt", "a\nb\nm\nz\n"));
    const [file] = attributionOf(await attributeCommit(workspace, place.commit("work")), {
      agent: AGENT,
      session: "s",
    });
    expect(file?.ranges).toEqual([
      { start: 1, turn: 1, marks: lineMark("a") + lineMark("b") },
      { start: 3, turn: 2, marks: lineMark("m") },
      { start: 4, turn: 1, marks: lineMark("z") },
    ]);
    expect(file?.ranges.map(lineCount)).toEqual([2, 1, 1]);
  });
});
