/** Agents that print what no agent should: the log holds what is usable, and the error is plain. */
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { StandIn } from "../support/stand-in.ts";

const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("garbage, binary, values that are no objects, and no newline at the end", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    `echo garbage; echo '[1,2]'; echo '"text"'; echo '{"torn":'; head -c 3000 /dev/urandom; echo
     printf '\\r\\n'; init a1; say 'half {} done'; printf '  %s  \\r\\n' '{"type":"note"}'
     printf '{"type":"result","subtype":"success","is_error":false,"result":"Done ✓ \\\\u00fc"}'`,
  );
  const result = await world.run(["fix it"]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  expect(lines(result.stdout)).toEqual([
    { type: "aiwr_start", prompt: "fix it", agent: "claude", model: "opus" },
    { session_id: "a1", agent: "claude" },
    { result: "Done ✓ ü", agent: "claude" },
  ]);
  expect(world.log("a1").map((line) => line["type"])).toEqual(["aiwr_start", "system", "assistant", "note", "result"]);
});

test("no session id ever: the log has an id of ours, and is listed and resumed by it", async () => {
  using world = new StandIn();
  world.agent("claude", `printf '%s\\n' '{"type":"lost"}'; echo 'please log in' >&2; exit 7`);
  const result = await world.run(["fix it"]);
  expect(result.code).toBe(7);
  const id = String(lines(result.stdout)[1]?.["session_id"]);
  expect(id).toMatch(/^run-[k-z]{12}$/);
  expect(lines(result.stdout)).toHaveLength(3);
  expect(result.stderr).toBe(
    `error: claude ended with status 7: please log in\nwarning: claude reported no session id; the log is kept as ${id}.\n`,
  );
  expect(world.log(id)).toHaveLength(2);
  expect((await world.run(["--list"])).stdout).toContain(`  ${id}  [claude]  [failed]  "fix it"`);
  expect((await world.run(["again", "--resume", id])).code).toBe(7);
});

test("an agent that ends well without its final record was cut off", async () => {
  using world = new StandIn();
  world.agent("claude", "init a1; say 'Half of it.'");
  const result = await world.run(["fix it"]);
  expect(result).toMatchObject({ code: 0, stderr: "error: claude ended without its final record.\n" });
  expect(lines(result.stdout)[2]).toEqual({ result: "Half of it.", agent: "claude" });
  expect((await world.run(["--list"])).stdout).toContain("[interrupted]");
});

test("a line of 100 MB takes no memory; its place is marked, and what follows is logged", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    `init a1; printf '{"type":"user","text":"'; head -c 100000000 /dev/zero | tr '\\0' x; printf '"}\\n'
     init a1; sleep 0.2; grep VmHWM /proc/$PPID/status > "$CALLED"; done_ 'After it.'`,
  );
  const result = await world.run(["fix it"]);
  expect(result.code).toBe(0);
  expect(lines(result.stdout)[2]).toEqual({ result: "After it.", agent: "claude" });
  expect(result.stderr).toBe("warning: 1 line of claude, longer than 16 MiB, is not in the log.\n");
  const [peak = ""] = /\d+/.exec(readFileSync(world.called, "utf8")) ?? [];
  expect(Number(peak)).toBeLessThan(150_000);
  expect(world.log("a1")[2]).toEqual({ type: "aiwr_dropped", bytes: 100000025 });
  const file = `${world.logs}/${new Date().toISOString().slice(0, 10)}/a1.jsonl`;
  expect(statSync(file).size).toBeLessThan(1_000);
}, 60_000);

test("an id that would leave the directory stays in it, and is found again", async () => {
  using world = new StandIn();
  world.agent("claude", `echo "$*" >> "$CALLED"; init '../../../escape/x'; done_ ok`);
  const first = await world.run(["fix it"]);
  expect(lines(first.stdout)[1]).toEqual({ session_id: "../../../escape/x", agent: "claude" });
  const [file = ""] = Object.keys(world.files());
  expect(file).toMatch(/^_+escape_x-[0-9a-f]{12}\.jsonl$/);
  const more = await world.run(["more", "--session", "../../../escape/x"]);
  expect(more.code).toBe(0);
  expect(world.files()[file]).toContain("\n----------\n");
});

test("an agent that can't be started at all", async () => {
  using world = new StandIn();
  expect(await world.run(["fix it", "--agent", "codex"], { PATH: "/usr/bin:/bin" })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "error: codex not found in PATH\nhint: Install Codex, or choose another with --agent.\n",
  });
  world.agent("claude", "");
  writeFileSync(`${world.bin}/claude`, "#!/nowhere/interpreter\n");
  const result = await world.run(["fix it"]);
  expect(result.code).toBe(1);
  expect(result.stderr).toStartWith("error: claude could not be started (ENOENT).");
  expect((await world.run(["--list"])).stdout).toContain("[failed]");
});
