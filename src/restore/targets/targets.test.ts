/** What a word means as a target, which names can be given, and what is refused for having two meanings. */

import { expect, test } from "bun:test";
import { ScriptedSession } from "../../../test/support/dispatching.ts";
import { temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { saveManually } from "../../recording/save.ts";
import { applyRewind, planRewind } from "../rewind.ts";
import { meaningOf } from "./names.ts";
import { resolveStep, resolveTarget } from "./resolve.ts";

ownHome();

async function place() {
  const repository = temporaryRepository();
  repository.write("a.txt", "a\n");
  repository.commit("a");
  const workspace = await enabledWorkspace(repository.path);
  const agent = new ScriptedSession(repository, workspace);
  const turn = async (prompt: string, content: string, who = agent) => {
    await who.begin(prompt);
    repository.write("a.txt", content);
    await who.end();
  };
  const idOf = async (word: string) => {
    const target = await resolveTarget(workspace, word);
    return target.kind === "step" ? target.step.id : target.commit;
  };
  return { repository, workspace, agent, turn, idOf, [Symbol.dispose]: () => repository.remove() };
}

test("a number leads to before that turn, and `show` shows the turn itself", async () => {
  using made = await place();
  await made.turn("One", "1\n");
  await made.turn("Two", "2\n");
  const at = (kind: string, turn: number) =>
    made.agent.steps.find((step) => step.kind === kind && step.turn === turn)?.id ?? "";
  for (const word of ["1", "@1", "prev"]) expect(await made.idOf(word)).toBe(at("turn-start", 2));
  for (const word of ["2", "@2"]) expect(await made.idOf(word)).toBe(at("turn-start", 1));
  for (const word of ["2", "@2"])
    expect(await resolveStep(made.workspace, word)).toMatchObject({ step: { id: at("turn-end", 1) } });
  for (const word of ["0", "@0"]) expect((await refusal(made.idOf(word))).message).toContain("counted back from 1");
});

test("`last` is the newest turn on the way here: no saved step, and no turn that was left behind", async () => {
  using made = await place();
  await made.turn("One", "1\n");
  await made.turn("Two", "2\n");
  await saveManually(made.workspace, "mine");
  const ends = made.agent.steps.filter(({ kind }) => kind === "turn-end");
  expect(await made.idOf("last")).toBe(ends[1]?.id ?? "");
  const before = await resolveTarget(made.workspace, "1");
  await applyRewind(made.workspace, await planRewind(made.workspace, before, { codeOnly: true }));
  expect(await made.idOf("last")).toBe(ends[0]?.id ?? "");
});

test("names that mean something else are known", async () => {
  using made = await place();
  await made.turn("One", "1\n");
  const { workspace, agent } = made;
  const [step] = agent.steps;
  const kindOf = async (name: string) => (await meaningOf(workspace, name))?.kind;
  for (const name of ["last", "prev", "last-green", "HEAD", "@"]) expect(await kindOf(name)).toBe("keyword");
  for (const name of ["0", "3", "@2", "123456", "007"]) expect(await kindOf(name)).toBe("count");
  for (const name of [step?.id ?? "", step?.id.slice(0, 6) ?? ""]) expect(await kindOf(name)).toBe("step");
  for (const name of ["main", "HEAD~0", made.repository.git("rev-parse", "--short", "HEAD")])
    expect(await kindOf(name)).toBe("commit");
  expect(await kindOf("0123456789ab")).toBe("checkpoint");
  expect(await kindOf(agent.id)).toBe("session");
  for (const name of ["before the move", "v2", "works", "3 ways"]) expect(await kindOf(name)).toBeUndefined();
});

test("a word with two meanings is refused", async () => {
  using made = await place();
  await made.turn("One", "1\n");
  // As an earlier version let it be saved.
  const { step } = await saveManually(made.workspace, "1");
  const number = await refusal(made.idOf("1"));
  expect([number.kind, number.message]).toEqual([
    "usage",
    `"1" has two meanings: the turn @1, and step ${step.id}, saved under this name.`,
  ]);
  expect(number.hint).toBe(`Give @1 or ${step.id}.`);
  expect((await refusal(resolveStep(made.workspace, "1"))).kind).toBe("usage");
  await saveManually(made.workspace, "draft");
  expect(await made.idOf("draft")).toMatch(/^[k-z]{12}$/);
  made.repository.git("branch", "draft");
  expect((await refusal(made.idOf("draft"))).message).toContain('"draft" has two meanings: step ');
});

test("ids made of digits are found by any beginning", async () => {
  using made = await place();
  await made.turn("One", "1\n");
  for (const id of ["12345678-2222-4333-8444-555555555555", "31415"]) {
    const other = new ScriptedSession(made.repository, made.workspace, id);
    await made.turn("Other", `${id}\n`, other);
    const end = other.steps.at(-1)?.id ?? "";
    expect(await made.idOf(id.slice(0, 8))).toBe(end);
    expect(await made.idOf(id)).toBe(end);
  }
  expect((await refusal(made.idOf("9"))).message).toContain("There are only 3 turns.");
});
