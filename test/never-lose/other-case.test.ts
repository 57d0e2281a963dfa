/** An ignored file whose name differs only by case from one that comes back is never touched. */
import { expect, test } from "bun:test";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

async function renamed(from: string, to: string): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  repository.write(from, "recorded\n");
  repository.commit("recorded");
  await repository.run(["save", "before"]);
  repository.git("mv", from, to);
  return repository;
}

test("a directory of ignored files", async () => {
  using repository = await renamed("build", "Build");
  if (repository.exists("build")) return;
  repository.write(".gitignore", "build/\n");
  repository.write("build/model.bin", "ignored data\n");
  const { plan } = await repository.json<{ plan: { notUndone: { what: string }[] } }>(["rewind", "before", "--yes"]);
  expect(plan.notUndone.map(({ what }) => what)).toContain("build");
  expect([repository.read("build/model.bin"), repository.exists("Build")]).toEqual(["ignored data\n", false]);
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect([repository.read("build/model.bin"), repository.read("Build")]).toEqual(["ignored data\n", "recorded\n"]);
});

test("an ignored file", async () => {
  using repository = await renamed("config.json", "Config.json");
  if (repository.exists("config.json")) return;
  repository.write(".gitignore", "config.json\n");
  repository.write("config.json", "private\n");
  await repository.run(["rewind", "before", "--yes"]);
  expect([repository.read("config.json"), repository.exists("Config.json")]).toEqual(["private\n", false]);
});
