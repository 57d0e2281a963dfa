import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { temporaryRepository } from "../../../test/support/index.ts";
import { pathsOfSmallIndex } from "./tracked-paths.ts";

test("it lists what git lists, of every form of the index that it reads", () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 40; i++) repository.write(`${"d/".repeat(i % 5)}${"n".repeat(i + 1)}`, `${i}\n`);
  repository.write("ü\u{1f600}.txt", "u\n");
  repository.write(`long/${"x".repeat(200)}/${"y".repeat(200)}`, "l\n");
  symlinkSync("nowhere", repository.at("link"));
  repository.git("add", "--all");
  const listed = () => repository.git("ls-files", "-z").split("\0").filter(Boolean).sort();
  const read = () => pathsOfSmallIndex(repository.at(".git/index"), 100);
  expect(
    read()
      ?.map(({ path }) => path)
      .sort(),
  ).toEqual(listed());
  expect(read()?.find(({ path }) => path === "link")?.mode).toBe(0o120000);
  repository.write("later", "later\n");
  repository.git("add", "--intent-to-add", "later");
  expect(
    read()
      ?.map(({ path }) => path)
      .sort(),
  ).toEqual(listed());
  expect(pathsOfSmallIndex(repository.at(".git/index"), 20)).toBeUndefined();
  repository.git("update-index", "--index-version", "4");
  expect(read()).toBeUndefined();
  expect(pathsOfSmallIndex(repository.at("none"), 100)).toBeUndefined();
});
