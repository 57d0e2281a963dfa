/** A session as a file for somebody else: whole, without secrets, and harmless whatever was said in it. */
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { hooked } from "../support/hooked.ts";
import { ScriptedClaude, temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

const SECRET = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
const HOSTILE = `</pre><script>alert(1)</script><img src=x onerror=alert(2)> & \\"quoted\\" \`\`\`\\n# fake heading\\n\\u001b]0;owned\\u0007 key ${SECRET}`;
const SPEAKER = `
init talk-1
printf '%s\\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"${HOSTILE}"}]}}'
printf '%s\\n' '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"<b>Bash</b>","input":{"command":"echo ${SECRET}"}}]}}'
done_ "All said."`;

async function exported(world: StandIn, ...args: string[]): Promise<string> {
  const result = await world.repository.run(["export", "talk-1", ...args]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return result.stdout;
}

test("HTML: one file, only its own script, conversations as data, no secrets", async () => {
  using world = new StandIn();
  world.agent("claude", SPEAKER);
  await world.run(["Say <i>it</i>"]);
  const html = await exported(world, "--format", "html");
  expect(html).toStartWith("<!doctype html>\n");
  expect(html).toMatch(
    /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256/,
  );
  const { sessions } = JSON.parse(/<script type="application\/json"[^>]*>([^<]*)<\/script>/.exec(html)?.[1] ?? "") as {
    sessions: { entries: { type: string; text: string; tool: { name: string } | null }[] }[];
  };
  const [session] = sessions;
  expect(session?.entries.map(({ type }) => type)).toEqual(["prompt", "answer", "tool-use", "answer"]);
  expect(session?.entries[1]?.text).toContain("<script>alert(1)</script>");
  expect(session?.entries[2]?.tool?.name).toBe("<b>Bash</b>");
  expect(html).not.toContain("alert(1)</script>");
  expect(html).not.toContain(SECRET);
  expect(html).not.toContain("\u001b");
  expect(html).not.toContain(world.repository.path);
  expect(await exported(world, "--format", "html", "--raw")).toContain(SECRET);
});

test("Markdown: quoted text can't end its fence", async () => {
  using world = new StandIn();
  world.agent("claude", SPEAKER);
  await world.run(["Say it"]);
  const markdown = await exported(world);
  expect(markdown).toStartWith("# Session `talk-1`\n");
  expect(markdown).toContain("## Answer\n\n````text\n");
  expect(markdown).toContain("\n# fake heading\n");
  expect(markdown).toContain("## Tool `<b>Bash</b>`\n");
  expect(markdown).not.toContain(SECRET);
  expect(await exported(world, "--raw")).toContain(SECRET);
});

test("a recorded session: no secret of its prompts and answers, in any form", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn(`Use ${SECRET}`, [], `Used ${SECRET}`);
  for (const format of ["md", "html", "json"]) {
    const { stdout, code } = await repository.run(["export", "last", "--format", format]);
    expect([format, code, stdout.includes("Used [secret:"), stdout.includes(SECRET)]).toEqual([format, 0, true, false]);
  }
});

test("JSON, with the tree below it, into a file that is the user's alone", async () => {
  using world = new StandIn();
  await hooked(world);
  await world.run(["the first"]);
  const { sessions } = JSON.parse((await world.repository.run(["sessions", "--json"])).stdout) as {
    sessions: { id: string }[];
  };
  const id = sessions[0]?.id ?? "";
  await world.run([`the child of it ${SECRET}`, "--parent", id]);
  const unknown = await world.repository.run(["export", id.slice(0, 8), "-o", "out.pdf"]);
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toContain("Name the file .md, .html or .json");
  expect(world.repository.exists("out.pdf")).toBeFalse();
  const args = ["export", id.slice(0, 8), "--tree", "-o", "out.json"];
  const result = await world.repository.run(args);
  expect(result).toMatchObject({ code: 0, stdout: "" });
  expect(statSync(world.repository.at("out.json")).mode & 0o777).toBe(0o600);
  const written = JSON.parse(world.repository.read("out.json")) as Record<string, unknown>;
  expect(written).toMatchObject({
    v: 1,
    redacted: true,
    sessions: [
      {
        session: { id, prompt: "the first", files: ["notes.txt"], cost: { usd: 0.25, estimated: false } },
        turns: [{ turn: 1, prompt: "the first", result: "Did: the first", files: ["notes.txt"] }],
        entries: [
          { kind: "prompt", text: "the first" },
          { kind: "answer", text: "Did: the first" },
        ],
      },
      { session: { parent: id } },
    ],
  });
  expect(JSON.stringify(written)).not.toContain(SECRET);
  const again = await world.repository.run(args);
  expect(again).toMatchObject({ code: 4 });
  expect(again.stderr).toContain("out.json already exists.");
  expect((await world.repository.run([...args, "--yes"])).code).toBe(0);
  expect((await world.repository.run(["export", "nobody"])).code).toBe(3);
});
