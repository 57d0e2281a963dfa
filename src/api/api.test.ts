/** The library's functions on a recorded repository, without a command line. */
import { expect, test } from "bun:test";
import { ScriptedSession } from "../../test/support/dispatching.ts";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import type { UserError } from "../base/errors.ts";
import { diff } from "./diff.ts";
import { applyRestore, planRedo, planRewind, planUndo } from "./restore/restore.ts";
import { save } from "./sessions.ts";
import { getTurn, listSteps, listTurns } from "./turns.ts";
import { openWorkspace } from "./workspace.ts";

ownHome();

/** Two whole turns and one that is still running. */
async function recorded() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const agent = new ScriptedSession(repository, workspace);
  for (const n of [1, 2]) {
    await agent.begin(`Prompt ${n}`);
    repository.write(`${n}.txt`, `${n}\n`);
    await agent.end(`Answer ${n}`);
  }
  await save(workspace, "between");
  await agent.begin("Prompt 3");
  repository.write("3.txt", "3\n");
  return { repository, workspace, agent, [Symbol.dispose]: () => repository.remove() };
}

function kindOf(failed: Promise<unknown>): Promise<string> {
  return failed.then(
    () => "nothing was thrown",
    (error: UserError) => error.kind,
  );
}

test("turns are listed newest first, whole, and a running one has no end", async () => {
  using made = await recorded();
  const turns = listTurns(made.workspace);
  expect(turns.map(({ number, prompt, response, status }) => [number, prompt, response, status])).toEqual([
    [3, "Prompt 3", null, "kept"],
    [2, "Prompt 2", "Answer 2", "kept"],
    [1, "Prompt 1", "Answer 1", "kept"],
  ]);
  expect(turns.map(({ endedAt }) => endedAt !== null)).toEqual([false, true, true]);
  expect(turns.map(({ files }) => files.added)).toEqual([[], ["2.txt"], ["1.txt"]]);
  expect(turns.map(({ steps }) => steps.map(({ kind }) => kind))).toEqual([
    ["turn-start"],
    ["turn-end", "turn-start"],
    ["turn-end", "turn-start"],
  ]);
});

test("a limit counts turns, not steps, and cuts none of them", async () => {
  using made = await recorded();
  const two = listTurns(made.workspace, { limit: 2 });
  expect(two).toEqual(listTurns(made.workspace).slice(0, 2));
  expect(listTurns(made.workspace, { session: made.agent.id.slice(0, 8) })).toHaveLength(3);
  expect(listSteps(made.workspace, { limit: 2 }).map(({ kind }) => kind)).toEqual(["turn-start", "manual"]);
});

test("one turn is found by any of its steps; a step outside of turns is none", async () => {
  using made = await recorded();
  const [, second] = listTurns(made.workspace);
  for (const { id } of second?.steps ?? []) expect(await getTurn(made.workspace, id)).toEqual(second as never);
  expect(await kindOf(getTurn(made.workspace, "between"))).toBe("not-found");
});

test("a plan changes nothing, applying it can be undone, and turns have the new status", async () => {
  using made = await recorded();
  const { workspace, repository } = made;
  await made.agent.end();
  const status = () => listTurns(workspace).map(({ status }) => status);
  const plan = await planUndo(workspace, ["2"]);
  expect([plan.delete, repository.exists("2.txt")]).toEqual([["2.txt"], true]);
  const receipt = await applyRestore(workspace, plan);
  expect([receipt.deleted, repository.exists("2.txt"), status()]).toEqual([1, false, ["kept", "undone", "kept"]]);
  await applyRestore(workspace, await planRedo(workspace));
  expect([repository.exists("2.txt"), status()]).toEqual([true, ["kept", "kept", "kept"]]);
  await applyRestore(workspace, await planRewind(workspace, "2", { codeOnly: true }));
  expect([repository.exists("2.txt"), status()]).toEqual([false, ["rewound", "rewound", "kept"]]);
  expect(await kindOf(applyRestore(workspace, structuredClone(plan)))).toBe("usage");
});

test("a difference names files and has a patch, for chosen files only if asked", async () => {
  using made = await recorded();
  const all = await diff(made.workspace, "between");
  expect(all.files).toEqual([{ path: "3.txt", status: "added" }]);
  expect(all.patch).toContain("+3\n");
  expect(await diff(made.workspace, "between", { paths: ["*.md"] })).toEqual({ files: [], patch: "" });
});

test("a directory without a store is not found, and the error says what to do", async () => {
  using repository = temporaryRepository();
  const error = await openWorkspace(repository.path).catch((thrown: UserError) => thrown);
  expect([error]).toEqual([expect.objectContaining({ kind: "not-found", hint: expect.stringContaining("enable") })]);
});
