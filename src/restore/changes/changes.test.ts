/** Plans over real histories: which turns and whose changes they name, what --keep-mine keeps, and plans that aged. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ScriptedSession } from "../../../test/support/dispatching.ts";
import { temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../../test/support/own-process.ts";
import { UserError } from "../../base/errors.ts";
import type { Step } from "../../model/step.ts";
import { applyRedo, planRedo } from "../redo.ts";
import { applyRewind, planRewind } from "../rewind.ts";
import { obstacles, type RewindOptions } from "../types.ts";
import { applyUndo, planUndo } from "../undo.ts";
import { PlanOutdated } from "./same-plan.ts";

ownHome();

const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");
const TIMEOUT_MS = 120_000;

async function started() {
  const repository = temporaryRepository();
  repository.write("lines.txt", LINES);
  repository.commit("lines");
  const workspace = await enabledWorkspace(repository.path);
  const agent = new ScriptedSession(repository, workspace);
  const replace = (before: string, after: string) =>
    repository.write("lines.txt", repository.read("lines.txt").replace(`${before}\n`, `${after}\n`));
  const turn = async (prompt: string, work: () => unknown, who = agent) => {
    await who.begin(prompt);
    await work();
    await who.end();
  };
  const plan = (step: Step | undefined, options: RewindOptions = {}) => {
    if (!step) throw new Error("There is no such step.");
    return planRewind(workspace, { kind: "step", step }, { codeOnly: true, ...options });
  };
  const rewind = async (step: Step | undefined, options: RewindOptions = {}) =>
    applyRewind(workspace, await plan(step, options));
  return { repository, workspace, agent, replace, turn, plan, rewind, [Symbol.dispose]: () => repository.remove() };
}

function named(plan: Awaited<ReturnType<typeof planRewind>>) {
  return { turns: plan.turns.map(({ prompt }) => prompt), yours: plan.yours.map(({ path }) => path) };
}

test("a plan names the turns that go back, files to create, and the user's own changes", async () => {
  using made = await started();
  const { repository, agent } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  repository.write("own.txt", "mine\n");
  await made.turn("Two", () => repository.git("rm", "--quiet", "--cached", "--", "README.md"));
  await made.turn("Three", () => Bun.file(repository.at("README.md")).delete());
  made.replace("line 12", "last");
  const plan = await made.plan(agent.steps[0]);
  expect(named(plan)).toEqual({ turns: ["Three", "Two", "One"], yours: ["lines.txt", "own.txt"] });
  expect([plan.create, plan.write, plan.delete]).toEqual([["README.md"], ["README.md", "lines.txt"], ["own.txt"]]);
  expect(plan.yours.every(({ kept, since }) => !kept && Date.parse(since) > 0)).toBe(true);
  expect(named(await made.plan(agent.steps.at(-1)))).toEqual({ turns: [], yours: ["lines.txt"] });
  expect(named(await made.plan(agent.steps[0], { paths: ["README.md"] }))).toEqual({ turns: ["Three"], yours: [] });
});

test("a restore's changes are not the user's own", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  await made.turn("Two", () => made.replace("line 6", "sixth"));
  await applyUndo(workspace, await planUndo(workspace, ["2"]));
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: ["Two"], yours: [] });
  made.replace("line 12", "last");
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: ["Two"], yours: ["lines.txt"] });
  await made.rewind(agent.steps[0], { paths: ["*.md"] }).catch(() => undefined);
  repository.write("own.txt", "mine\n");
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: ["Two"], yours: ["lines.txt", "own.txt"] });
});

test("the user's own changes stay theirs after a rewind and its redo, and after a rewind to the turn after them", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  made.replace("line 12", "last");
  await made.turn("Two", () => repository.write("two.txt", "2\n"));
  repository.write("own.txt", "mine\n");
  const all = { turns: ["Two", "One"], yours: ["lines.txt", "own.txt"] };
  expect(named(await made.plan(agent.steps[0]))).toEqual(all);
  const start = agent.steps.at(-2);
  await made.rewind(start);
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: ["One"], yours: ["lines.txt"] });
  await applyRedo(workspace, await planRedo(workspace));
  expect(named(await made.plan(agent.steps[0]))).toEqual(all);
  expect(named(await made.plan(start))).toEqual({ turns: ["Two"], yours: ["own.txt"] });
});

test("a rewind to before an undo names the turn that it brings back", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  const back = async (step: Step | undefined, options: RewindOptions = {}) =>
    (await made.plan(step, options)).bringsBack?.map(({ prompt }) => prompt);
  await made.turn("Break it", () => made.replace("line 1", "broken"));
  const between = agent.steps.at(-1);
  await made.turn("Bad idea", () => repository.write("bad.txt", "bad\n"));
  const start = agent.steps.at(-2);
  await applyUndo(workspace, await planUndo(workspace, ["2"]));
  await made.turn("Later", () => undefined);
  expect(await back(start)).toEqual(["Break it"]);
  expect(await back(between)).toEqual(["Break it"]);
  expect(await back(start, { paths: ["lines.txt"] })).toEqual(["Break it"]);
  expect(await back(start, { paths: ["bad.txt"] })).toBeUndefined();
  // These keep the undo: its turn goes anyway, it came before, or it is merged.
  expect(await back(agent.steps[0])).toBeUndefined();
  expect(await back(agent.steps.at(-1))).toBeUndefined();
  expect(await back(start, { keepMine: true })).toBeUndefined();
  await made.rewind(start);
  expect(repository.read("lines.txt")).toContain("broken\n");
  expect(await back(start)).toBeUndefined();
});

test("a turn that a redo left behind is no part of the current files", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => repository.write("one.txt", "1\n"));
  await made.rewind(agent.steps[0]);
  await made.turn("Left", () => repository.write("left.txt", "2\n"));
  const redo = await planRedo(workspace);
  expect(named(redo)).toEqual({ turns: ["Left"], yours: [] });
  await applyRedo(workspace, redo);
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: ["One"], yours: [] });
});

test("--keep-mine reverts turns and keeps the user's own changes; redo reapplies the turns", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  made.replace("line 6", "sixth, mine");
  repository.write("own.txt", "mine\n");
  await made.turn("Two", () => repository.write("two.txt", "2\n"));
  const plan = await made.plan(agent.steps[0], { keepMine: true });
  expect(named(plan)).toEqual({ turns: ["Two", "One"], yours: ["lines.txt"] });
  expect(plan.yours[0]?.kept).toBe(true);
  await applyRewind(workspace, plan);
  expect(repository.read("lines.txt")).toBe(LINES.replace("line 6\n", "sixth, mine\n"));
  expect([repository.exists("own.txt"), repository.exists("two.txt")]).toEqual([true, false]);
  // The turns are gone, and the changes that stayed are still the user's own.
  expect(named(await made.plan(agent.steps[0]))).toEqual({ turns: [], yours: ["lines.txt", "own.txt"] });
  made.replace("line 12", "last, mine");
  const redo = await planRedo(workspace);
  expect(named(redo)).toEqual({ turns: [], yours: ["lines.txt"] });
  await applyRedo(workspace, redo);
  expect(repository.read("lines.txt")).toBe(
    LINES.replace("line 1\n", "first\n").replace("line 6\n", "sixth, mine\n").replace("line 12\n", "last, mine\n"),
  );
  expect(repository.exists("two.txt")).toBe(true);
});

test("--keep-mine: lines that both changed are a conflict, and markers show it", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => made.replace("line 6", "sixth"));
  made.replace("sixth", "sixth, mine");
  const plan = await made.plan(agent.steps[0], { keepMine: true });
  expect(obstacles(plan).map(({ path }) => path)).toEqual(["lines.txt"]);
  await expect(applyRewind(workspace, plan)).rejects.toThrow(UserError);
  expect(repository.read("lines.txt")).toContain("sixth, mine\n");
  await made.rewind(agent.steps[0], { keepMine: true, markers: true });
  expect(repository.read("lines.txt")).toMatch(
    /<<<<<<< now\nsixth, mine\n=======\nline 6\n>>>>>>> before-turn-[k-z]{12}\n/,
  );
});

test("--keep-mine needs turns that have ended, and a step of this work tree", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await agent.begin("One");
  repository.write("one.txt", "1\n");
  await expect(made.plan(agent.steps[0], { keepMine: true })).rejects.toThrow("Turn 1 of claude-code has not ended");
  const commit = { kind: "commit" as const, commit: repository.git("rev-parse", "HEAD"), tree: "" };
  await expect(planRewind(workspace, commit, { keepMine: true })).rejects.toThrow("can't be used with a commit");
});

test(
  "--keep-mine gives what the user alone would have made",
  async () => {
    const edits = fc.array(fc.record({ by: fc.constantFrom("agent", "user"), slot: fc.nat(3) }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(edits, async (list) => {
        using made = await started();
        const { repository, agent } = made;
        const own = LINES.split("\n");
        await made.turn("Start", () => undefined);
        // The agent changes lines 1, 4, 7 and 10, the user lines 3, 6, 9 and 12: never neighbors of each other.
        for (const [n, { by, slot }] of list.entries()) {
          const line = 3 * slot + (by === "agent" ? 0 : 2);
          const change = () => {
            const lines = repository.read("lines.txt").split("\n");
            lines[line] = `${by} ${n}`;
            repository.write("lines.txt", lines.join("\n"));
          };
          if (by === "agent") await made.turn(`${n}`, change);
          else {
            change();
            own[line] = `user ${n}`;
          }
        }
        const plan = await made.plan(agent.steps[0], { keepMine: true });
        if (obstacles(plan).length > 0) return;
        await made.rewind(agent.steps[0], { keepMine: true });
        expect(repository.read("lines.txt")).toBe(own.join("\n"));
      }),
      runs(6),
    );
  },
  TIMEOUT_MS,
);

test("a plan that was agreed to is carried out as it was shown, or not at all", async () => {
  using made = await started();
  const { repository, workspace, agent } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  const agreed = await made.plan(agent.steps[0]);
  repository.write("unrelated.ign", "ignored\n");
  made.replace("line 12", "last, mine");
  await expect(applyRewind(workspace, agreed, agreed)).rejects.toThrow(PlanOutdated);
  expect(repository.read("lines.txt")).toContain("last, mine\n");
  const next = await made.plan(agent.steps[0]);
  repository.write("new.txt", "made meanwhile\n");
  await expect(applyRewind(workspace, next, next)).rejects.toThrow(PlanOutdated);
  expect(repository.exists("new.txt")).toBe(true);
  const last = await made.plan(agent.steps[0]);
  await applyRewind(workspace, last, last);
  expect([repository.read("lines.txt"), repository.exists("new.txt")]).toEqual([LINES, false]);
});

test("an undo does not mind changes to files that it does not touch", async () => {
  using made = await started();
  const { repository, workspace } = made;
  await made.turn("One", () => made.replace("line 1", "first"));
  const plan = await planUndo(workspace, ["1"]);
  repository.write("other.txt", "meanwhile\n");
  await applyUndo(workspace, plan, plan);
  expect([repository.read("lines.txt"), repository.exists("other.txt")]).toEqual([LINES, true]);
});
