import { expect, test } from "bun:test";
import { deadPid, dispatchingPlace } from "../../test/support/dispatching.ts";
import { ownHome } from "../../test/support/own-process.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { recoverSessions } from "./recover.ts";

ownHome();

test("an orphaned turn that another process is closing is left to that process", async () => {
  using made = await dispatchingPlace();
  const { workspace } = made;
  const dead = made.session();
  dead.pid = await deadPid();
  await dead.begin("cut off");
  const closing = tryAcquire(sessionLock(workspace, dead.key));
  await made.session().begin("two");
  expect(await recoverSessions(workspace)).toEqual([]);
  expect(dead.kinds).toEqual(["turn-start"]);
  closing?.release();
  await made.session().begin("three");
  expect(dead.kinds).toEqual(["turn-start", "turn-end"]);
});

test("recovery closes orphaned turns and leaves running ones", async () => {
  using made = await dispatchingPlace();
  const { workspace } = made;
  const [dead, alive] = [made.session(), made.session()];
  dead.pid = await deadPid();
  await alive.begin("goes on");
  await dead.begin("cut off");
  expect(await recoverSessions(workspace)).toEqual([{ kind: "turns-closed", turns: 1 }]);
  expect(await recoverSessions(workspace)).toEqual([]);
  expect(dead.kinds).toEqual(["turn-start", "turn-end"]);
  expect(alive.kinds).toEqual(["turn-start"]);
  expect(alive.state.openTurn).not.toBeNull();
});
