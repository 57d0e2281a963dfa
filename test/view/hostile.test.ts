/** Hostile transcripts and file names: everything arrives as data, and nothing stops the viewer. */
import { expect, test } from "bun:test";
import { bash, write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

/** Recording takes control characters out of prompts. */
const PROMPTS = [
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "[click](javascript:alert(1)) <svg onload=alert(1)>",
  "\u001b[2J\u001b]0;title\u0007 \u202eevil\u202c \u2066x\u2069",
  `]]></data>\nevent: changed\ndata: {"repository":"x"}\n\n`,
];
const NAMES = [
  "<b>.txt",
  'quote".txt',
  "new\nline.txt",
  " space .txt",
  "-rf",
  "日本語.txt",
  "%2e%2e.txt",
  "a\\b.txt",
  "__proto__",
];

test("hostile prompts and names come back as they are, as JSON", async () => {
  using made = await recorded();
  const { repository, agent } = made;
  for (const [i, prompt] of PROMPTS.entries()) await agent.turn(prompt, [write(`p${i}.txt`, prompt)], prompt);
  for (const name of NAMES) repository.write(name, "x\n");
  await agent.turn("names", [bash("true")], "Done.");
  await using view = await startView(repository);
  const response = await view.raw("api/timeline", { headers: view.headers() });
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const turns = (await view.get("timeline")).items.filter((item) => item.kind === "turn");
  const prompts = turns.map(({ prompt }) => prompt?.trim());
  for (const prompt of PROMPTS) expect(prompts).toContain(prompt.startsWith("\u001b") ? "evil x" : prompt.trim());
  const step = turns[0]?.id ?? "";
  const { entries } = await view.get("tree", { step });
  const names = entries.map(({ name }) => name);
  for (const name of NAMES) {
    expect(names).toContain(name);
    expect(await view.get("file", { step, path: name })).toMatchObject({ kind: "text", text: "x" });
  }
}, 60_000);

test("a line of ten megabytes and a file of a million lines do not stop it", async () => {
  using made = await recorded();
  const { repository, agent } = made;
  repository.write("wide.txt", "x".repeat(10_000_000));
  repository.write("tall.txt", "y\n".repeat(1_000_000));
  await agent.turn("Large", [bash("true")], "Done.");
  repository.write("wide.txt", "z".repeat(10_000_000));
  await agent.turn("Larger", [bash("true")], "Done.");
  await using view = await startView(repository);
  const turns = (await view.get("timeline")).items.filter((item) => item.kind === "turn");
  const step = turns[0]?.id ?? "";
  const tall = await view.get("file", { step, path: "tall.txt" });
  expect(tall).toMatchObject({ kind: "text", lines: 1_000_000, next: 10_000 });
  const state = (await view.get("moments")).moments.map(({ step: one }) => one);
  const diff = await view.raw(
    `api/fileDiff?${new URLSearchParams({ from: state[0] ?? "", to: step, path: "wide.txt" })}`,
    { headers: view.headers() },
  );
  expect((await diff.text()).length).toBeLessThan(1_000_000);
  expect((await view.get("state")).readOnly).toBe(false);
}, 60_000);
