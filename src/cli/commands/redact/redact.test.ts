import { afterAll, expect, test } from "bun:test";
import { filled } from "../../../../test/redact/fill.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../../test/support/index.ts";
import { UserError } from "../../../base/errors.ts";
import { type Channel, makeIo } from "../../terminal/io.ts";
import { run as scan } from "./scan.ts";
import { run as tryOut } from "./test.ts";

const TOKEN = filled("ghp_{A36}", 1);
const home = process.env["BACKTRAIL_HOME"];

afterAll(() => {
  if (home === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = home;
});

test("scan tells places and rules, never a secret", async () => {
  using place = temporaryDirectory();
  place.write("a.txt", `first\nünï ${TOKEN} and\nDB_PASSWORD=s3cr3t-99\n`);
  place.write("b\u001b[31m.txt", "nothing here\n");
  const { io, said } = terminal(place);
  expect(await scan({ files: ["a.txt", "b\u001b[31m.txt"] }, io)).toBeUndefined();
  expect(said.out).toBe("a.txt:2:5   github-token  40 bytes\na.txt:3:13  password      9 bytes\n");
  expect(said.err).toBe("2 secrets in 2 files.\n");
  expect(await scan({ files: ["a.txt"], check: true }, io)).toBe(1);
});

test("scan as JSON", async () => {
  using place = temporaryDirectory();
  place.write("a.jsonl", `${JSON.stringify({ text: `a\n${TOKEN}` })}\n`);
  const { io, said } = terminal(place);
  expect(await scan({ files: ["a.jsonl"], json: true, check: true }, io)).toBe(1);
  expect(JSON.parse(said.out)).toEqual({
    files: [
      {
        file: "a.jsonl",
        found: [{ rule: "github-token", placeholder: "[secret:github-token:1]", line: 1, column: 13, length: 40 }],
      },
    ],
    count: 1,
  });
  expect(said.out + said.err).not.toContain(TOKEN);
});

test("finding nothing is reported and is not a failure", async () => {
  using place = temporaryDirectory();
  place.write("a.txt", "max_tokens: 4096\n");
  const { io, said } = terminal(place);
  expect(await scan({ files: ["a.txt"], check: true }, io)).toBeUndefined();
  expect(said).toEqual({ out: "", err: "Nothing looks secret in 1 file.\n" });
});

test("test shows the places as they would look, or the whole", async () => {
  using place = temporaryDirectory();
  place.write("a.txt", `see ${TOKEN}, ok\u001b]0;x\u0007\nlast password=s3cr3t99\n`);
  const { io, said } = terminal(place);
  expect(await tryOut({ file: "a.txt" }, io)).toBeUndefined();
  expect(said.out).toBe("1  see [secret:github-token:1], ok\n2  last password=[secret:password:1]\n");
  expect(said.err).toBe("2 secrets would be taken out. The way back is exact.\n");
  said.out = "";
  await tryOut({ file: "a.txt", whole: true }, io);
  expect(said.out).toBe("see [secret:github-token:1], ok\nlast password=[secret:password:1]\n");
  said.out = "";
  await tryOut({ file: "a.txt", json: true }, io);
  expect(JSON.parse(said.out)).toMatchObject({
    file: "a.txt",
    exact: true,
    found: [
      { line: 1, column: 5 },
      { line: 2, column: 15 },
    ],
  });
});

test("a file that is not there, or is none", async () => {
  using place = temporaryDirectory();
  place.write("folder/x", "");
  const { io } = terminal(place);
  const thrown = await scan({ files: ["absent"] }, io).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(UserError);
  expect(thrown).toMatchObject({ kind: "not-found", message: "There is no file absent." });
  expect(tryOut({ file: "folder" }, io)).rejects.toThrow("folder is a directory.");
});

function terminal(place: TemporaryDirectory) {
  const said = { out: "", err: "" };
  process.env["BACKTRAIL_HOME"] = place.at("home");
  const channel = (name: "out" | "err"): Channel => ({
    isTerminal: false,
    columns: 80,
    rows: 24,
    paint: (_style, text) => text,
    write: (text) => {
      said[name] += text;
    },
  });
  const io = makeIo({ cwd: place.path, environment: {}, out: channel("out"), err: channel("err"), interactive: false });
  return { io, said };
}
