import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { restorePlaceholders } from "./placeholders.ts";
import { forgetSecrets, openVault } from "./vault.ts";

const SECRET = { rule: "password", value: "s3cret \xff\\n" };

test("numbers and values outlive the process, and moving the store", () => {
  using place = temporaryDirectory();
  const open = (store = "store") => openVault(place.at(store), place.at("data"));
  expect(open().assign([SECRET, { rule: "jwt", value: "a" }, SECRET])).toEqual([
    "[secret:password:1]",
    "[secret:jwt:1]",
    "[secret:password:1]",
  ]);
  expect(open().assign([{ rule: "password", value: "other" }, SECRET])).toEqual([
    "[secret:password:2]",
    "[secret:password:1]",
  ]);
  renameSync(place.at("store"), place.at("moved"));
  const bytes = restorePlaceholders("<[secret:password:1]> [secret:password:9]", open("moved"));
  expect(bytes.toString("latin1")).toBe(`<${SECRET.value}> [secret:password:9]`);
});

test("nothing is written without a secret; the file is private and does not contain the secret as text", () => {
  using place = temporaryDirectory();
  expect(openVault(place.at("store"), place.at("data")).valueOf("[secret:password:1]")).toBeUndefined();
  expect(place.exists("data")).toBe(false);
  openVault(place.at("store"), place.at("data")).assign([SECRET]);
  expect(statSync(place.at("data")).mode & 0o777).toBe(0o700);
  const files = readdirSync(place.at("data")).map((name) => join(place.at("data"), name));
  expect(files).toHaveLength(2);
  for (const file of files) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "latin1")).not.toContain("s3cret");
  }
  chmodSync(place.at("data", "key"), 0o644);
  expect(openVault(place.at("store"), place.at("data")).valueOf("[secret:password:1]")).toBe(SECRET.value);
  expect(statSync(place.at("data", "key")).mode & 0o777).toBe(0o600);
});

test("what another process adds is seen, a little later", async () => {
  using place = temporaryDirectory();
  const early = openVault(place.at("store"), place.at("data"));
  openVault(place.at("store"), place.at("data")).assign([SECRET]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(early.valueOf("[secret:password:1]")).toBe(SECRET.value);
});

test("two stores know nothing of each other", () => {
  using place = temporaryDirectory();
  openVault(place.at("a"), place.at("data")).assign([SECRET]);
  const other = openVault(place.at("b"), place.at("data"));
  expect(other.valueOf("[secret:password:1]")).toBeUndefined();
  expect(other.assign([{ rule: "password", value: "x" }])).toEqual(["[secret:password:1]"]);
});

test("a line that was cut off, changed or swapped gives nothing, and its number is not given again", () => {
  using place = temporaryDirectory();
  openVault(place.at("store"), place.at("data")).assign([SECRET, { rule: "password", value: "second" }]);
  const file = place.at("data", `${place.read("store/redaction-id").trim()}.jsonl`);
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  [lines[0].sealed, lines[1].sealed] = [lines[1].sealed, lines[0].sealed];
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  appendFileSync(file, '{"v":1,"placeholder":"[secret:pass');
  const vault = openVault(place.at("store"), place.at("data"));
  expect(vault.valueOf("[secret:password:1]")).toBeUndefined();
  expect(vault.assign([SECRET])).toEqual(["[secret:password:3]"]);
  expect(openVault(place.at("store"), place.at("data")).valueOf("[secret:password:3]")).toBe(SECRET.value);
});

test("without its key, secrets stay hidden and new ones get new numbers", () => {
  using place = temporaryDirectory();
  openVault(place.at("store"), place.at("data")).assign([SECRET]);
  renameSync(place.at("data", "key"), place.at("key"));
  const vault = openVault(place.at("store"), place.at("data"));
  expect(vault.valueOf("[secret:password:1]")).toBeUndefined();
  expect(vault.assign([SECRET])).toEqual(["[secret:password:2]"]);
  writeFileSync(place.at("data", "key"), "short");
  expect(() => openVault(place.at("store"), place.at("data"))).toThrow(/is damaged/);
});

test("processes side by side never give one number to two secrets", async () => {
  using place = temporaryDirectory();
  const script = place.write(
    "worker.ts",
    `import { openVault } from ${JSON.stringify(join(import.meta.dirname, "vault.ts"))};
const vault = openVault(process.argv[2], process.argv[3]);
for (let i = 0; i < 20; i++) {
  const values = ["shared-" + i, process.argv[4] + i];
  console.log(JSON.stringify(vault.assign(values.map((value) => ({ rule: "x", value }))).map((p, n) => [p, values[n]])));
}`,
  );
  const outputs = await Promise.all(
    ["a", "b", "c"].map(
      (name) =>
        new Promise<string>((resolve, reject) => {
          const child = spawn(process.execPath, [script, place.at("store"), place.at("data"), name]);
          let text = "";
          child.stdout.on("data", (piece) => (text += piece));
          child.on("error", reject);
          child.on("close", () => resolve(text));
        }),
    ),
  );
  const pairs = outputs.flatMap((text) =>
    text
      .trim()
      .split("\n")
      .flatMap((line) => JSON.parse(line) as [string, string][]),
  );
  expect(pairs).toHaveLength(120);
  expect(new Set(pairs.map(([placeholder]) => placeholder)).size).toBe(80);
  expect(new Set(pairs.map(([placeholder, value]) => `${placeholder} ${value}`)).size).toBe(80);
  const vault = openVault(place.at("store"), place.at("data"));
  for (const [placeholder, value] of pairs) expect(vault.valueOf(placeholder)).toBe(value);
});

test("a forgotten secret can't be recovered, and its number is not reused", () => {
  using place = temporaryDirectory();
  const open = () => openVault(place.at("store"), place.at("data"));
  const before = open();
  before.assign([SECRET, { rule: "password", value: "other" }]);
  const [map = ""] = readdirSync(place.at("data")).filter((name) => name.endsWith(".jsonl"));
  const { size } = statSync(place.at("data", map));
  forgetSecrets(place.at("store"), ["[secret:password:1]"], place.at("data"));
  expect(statSync(place.at("data", map))).toMatchObject({ size });
  expect(statSync(place.at("data", map)).mode & 0o777).toBe(0o600);
  expect(open().valueOf("[secret:password:1]")).toBeUndefined();
  expect(open().valueOf("[secret:password:2]")).toBe("other");
  expect(open().assign([SECRET])).toEqual(["[secret:password:3]"]);
  // One that was open all the time goes on where it was.
  expect(before.assign([{ rule: "password", value: "third" }])).toEqual(["[secret:password:4]"]);
});
