/** Backtrail beside the real pre-commit, in every order; hooks of the repository's own, so that nothing is downloaded. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";
import { availablePreCommit } from "./install.ts";

const modules = await availablePreCommit();
const environment = { PYTHONPATH: modules ?? "", PYTHONDONTWRITEBYTECODE: "1" };
const STAGES = [...SHARED_HOOKS, "post-rewrite"];

function preCommit(scene: HookedRepository, ...args: string[]): string {
  const { repository } = scene;
  const options = { cwd: repository.path, env: repository.environment(environment), encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("python3", ["-m", "pre_commit", ...args], options);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

function configure(scene: HookedRepository): void {
  const hooks = STAGES.map((stage) =>
    [
      `  - id: ${stage}`,
      `    name: ${stage}`,
      `    entry: ${scene.program(stage, "manager")}`,
      "    language: system",
      `    stages: [${stage}]`,
      "    always_run: true",
      "    pass_filenames: false",
    ].join("\n"),
  );
  const types = `default_install_hook_types: [${STAGES.join(", ")}]`;
  scene.repository.write(
    ".pre-commit-config.yaml",
    [types, "repos:", "- repo: local", "  hooks:", ...hooks, ""].join("\n"),
  );
  scene.repository.commit("configure pre-commit");
}

type Party = "user" | "manager" | "backtrail";

async function arrive(scene: HookedRepository, party: Party): Promise<void> {
  if (party === "user") scene.userHooks();
  else if (party === "manager") preCommit(scene, "install");
  else await installGitHooks(scene.workspace, scene.executable);
}

const ORDERS: Party[][] = [
  ["manager", "backtrail"],
  ["backtrail", "manager"],
  ["user", "manager", "backtrail"],
  ["user", "backtrail", "manager"],
];

describe.skipIf(modules === null)("pre-commit", () => {
  for (const order of ORDERS) {
    test(`${order.join(", ")}`, async () => {
      using scene = new HookedRepository();
      configure(scene);
      for (const party of order) await arrive(scene, party);
      const commit = () => scene.commitAndPush(undefined, environment);
      expect(await commit()).toEqual(onceEach(order));
      await repairGitHooks(scene.workspace);
      // As every `pre-commit install` and `autoupdate` of a project's set-up does.
      preCommit(scene, "install");
      expect(await commit()).toEqual(onceEach(order));
      const settled = scene.picture();
      await repairGitHooks(scene.workspace);
      preCommit(scene, "install");
      await repairGitHooks(scene.workspace);
      expect(Object.keys(scene.picture())).toEqual(Object.keys(settled));
      expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
    });

    for (const first of ["manager", "backtrail"] as const) {
      test(`${order.join(", ")}; then ${first} leaves first`, async () => {
        using scene = new HookedRepository();
        configure(scene);
        for (const party of order) await arrive(scene, party);
        await repairGitHooks(scene.workspace);
        const leave = async (party: Party) => {
          if (party === "backtrail") expect(await removeGitHooks(scene.workspace)).toEqual([]);
          else preCommit(scene, "uninstall");
        };
        await leave(first);
        await repairGitHooks(scene.workspace);
        const left = order.filter((party) => party !== first);
        expect(await scene.commitAndPush(undefined, environment)).toEqual(onceEach(left));
        await leave(first === "manager" ? "backtrail" : "manager");
        const found = scene.picture();
        if (order.includes("user")) scene.userHooks();
        expect(found).toEqual(order.includes("user") ? scene.picture() : {});
      });
    }
  }

  for (const order of ORDERS) {
    test(`${order.join(", ")}: rewritten commits are told to Backtrail`, async () => {
      using scene = new HookedRepository();
      configure(scene);
      scene.repository.write(".git/backtrail/checkpoints/x", "");
      for (const party of order) {
        if (party === "user") scene.userHooks(".git/hooks", ["post-rewrite"]);
        else await arrive(scene, party);
      }
      await repairGitHooks(scene.workspace);
      preCommit(scene, "install");
      await repairGitHooks(scene.workspace);
      await scene.git(["commit", "--quiet", "--amend", "--allow-empty", "--message", "again"], { env: environment });
      const head = scene.repository.git("rev-parse", "HEAD");
      expect(scene.repository.read(".git/backtrail/rewrites").trim().split(" ")[1]).toBe(head);
      expect(readdirSync(scene.repository.at(".git/hooks"))).not.toContain("post-rewrite.legacy.before-backtrail");
    });
  }

  test("pre-commit install --overwrite leaves the worker to put ours back", async () => {
    using scene = new HookedRepository();
    configure(scene);
    for (const party of ["user", "backtrail", "manager"] as const) await arrive(scene, party);
    await repairGitHooks(scene.workspace);
    preCommit(scene, "install", "--overwrite");
    expect(await scene.commitAndPush(undefined, environment)).toEqual(onceEach(["manager"]));
    await repairGitHooks(scene.workspace);
    expect(await scene.commitAndPush(undefined, environment)).toEqual(onceEach(["manager", "backtrail"]));
    // `--overwrite` means that only pre-commit's hooks are to run; the user's are still there.
    expect(readdirSync(scene.repository.at(".git/backtrail/replaced-hooks"))).toHaveLength(SHARED_HOOKS.length);
  });
});
