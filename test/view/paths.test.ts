/** Clients name paths and ids: none leads out of the recorded trees, and a link is shown, not followed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bash } from "../support/index.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

const SECRET = "outside-of-every-tree";
let made: Awaited<ReturnType<typeof recorded>>;
let view: ViewProcess;
let step = "";
let outside = "";

beforeAll(async () => {
  made = await recorded();
  const { repository, agent } = made;
  outside = join(dirname(repository.path), "outside-of-it");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), `${SECRET}\n`);
  symlinkSync(join(outside, "secret.txt"), repository.at("link.txt"));
  symlinkSync(outside, repository.at("folder"));
  repository.write(".gitignore", "ignored.txt\n");
  repository.write("ignored.txt", `${SECRET}\n`);
  await agent.turn("Links", [bash("true")], "Done.");
  view = await startView(repository);
  step = (await view.get("timeline")).items.find((item) => item.kind === "turn")?.id ?? "";
}, 60_000);

afterAll(async () => {
  await view.stop();
  made[Symbol.dispose]();
});

const up = "../".repeat(12);
const PATHS = () => [
  join(outside, "secret.txt"),
  `${up}${outside.slice(1)}/secret.txt`,
  `a.txt/../${up}etc/passwd`,
  "..",
  ".",
  "./a.txt",
  "a.txt/",
  "//a.txt",
  ".git/config",
  ".git",
  "folder/secret.txt",
  "ignored.txt",
  "a.txt\0.png",
  "..\\..\\a.txt",
  "%2e%2e%2fa.txt",
  "C:\\Windows\\win.ini",
  ":(top)a.txt",
  "HEAD:a.txt",
  "--output=taken",
  "x".repeat(5_000),
];

test("a path is looked up in a recorded tree, and nowhere else", async () => {
  expect(await view.get("file", { step, path: "a.txt" })).toMatchObject({ kind: "text", text: "one\n2" });
  for (const path of PATHS()) {
    const queries: Record<string, Record<string, string>> = {
      file: { step, path },
      tree: { step, path },
      fileDiff: { turn: step, path },
      blame: { path },
      moments: { path },
    };
    for (const [name, query] of Object.entries(queries)) {
      const response = await view.raw(`api/${name}?${new URLSearchParams(query)}`, { headers: view.headers() });
      const text = await response.text();
      expect([path, name, text.includes(SECRET) || text.includes("root:")]).toEqual([path, name, false]);
      expect([path, name, response.status < 500]).toEqual([path, name, true]);
      const isEmptyAnswer = name === "moments" || (name === "fileDiff" && text.includes('"same"'));
      if (response.ok) expect([path, name, isEmptyAnswer]).toEqual([path, name, true]);
    }
  }
});

test("a link is a link: what it points to is named, not read", async () => {
  for (const path of ["link.txt", "folder"]) {
    const text = JSON.stringify(await view.get("file", { step, path }));
    expect(text).not.toContain(SECRET);
    expect(text).toContain("outside-of-it");
  }
});

test("an id is never a path, an option or a revision", async () => {
  const ids = ["../../etc/passwd", "/etc/passwd", "--help", "HEAD", "HEAD~1", "refs/heads/main", "@{-1}", "", "a\0b"];
  for (const id of ids) {
    const queries: [string, Record<string, string>][] = [
      ["turn", { id }],
      ["session", { id }],
      ["conversation", { session: id }],
      ["entry", { session: id, index: "0" }],
      ["runLog", { id }],
      ["commit", { id }],
      ["fork", { id }],
      ["toolCall", { turn: id, call: id }],
      ["changes", { from: id, to: id }],
      ["changes", { from: `commit:${id}`, to: `tree:${id}` }],
      ["file", { step: id, path: "a.txt" }],
    ];
    for (const [name, query] of queries) {
      const response = await view.raw(`api/${name}?${new URLSearchParams(query)}`, { headers: view.headers() });
      expect([id, name, [400, 404].includes(response.status)]).toEqual([id, name, true]);
      expect(await response.text()).not.toContain("root:");
    }
  }
});

test("a branch or a name that a client chooses makes no file outside and starts nothing", async () => {
  const before = made.repository.git("for-each-ref", "refs/heads");
  for (const branch of ["../../taken", "--force", "a..b", "refs/../x", "a\nb", "-d main", "@{-1}", "x.lock"]) {
    const plan = view.post("plan", { action: "fork", target: step, branch });
    const applied = plan.then(({ id }) => view.post("apply", { plan: id }));
    expect(applied).rejects.toThrow(/answered 4\d\d/);
    await applied.catch(() => undefined);
  }
  expect(made.repository.git("for-each-ref", "refs/heads")).toBe(before);
});
