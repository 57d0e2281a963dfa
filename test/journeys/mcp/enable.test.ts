/** `enable --mcp` puts the server into each agent's settings; `disable` leaves every file byte for byte as it was. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable, type TemporaryRepository, temporaryRepository } from "../../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };
const START = { command: executable(), args: ["mcp"] };

/** The file for one user in one repository, a file that a user may have there already, and the entry in it. */
const AGENTS: Record<string, { file: string; home?: true; before: string; entry: string }> = {
  "claude-code": {
    file: ".mcp.json",
    before: '{ "mcpServers": { "other": { "command": "x" } } }',
    entry: JSON.stringify(START),
  },
  codex: {
    file: ".codex/config.toml",
    before: '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "x"',
    entry: `[mcp_servers.backtrail]#backtrailenable--mcpcommand="${START.command}"args=["mcp"]`,
  },
  gemini: { file: ".gemini/settings.json", before: '{"theme": "dark"}\n', entry: JSON.stringify(START) },
  opencode: {
    file: "opencode.json",
    before: '// mine\n{\n\t"mcp": {},\n}\n',
    entry: JSON.stringify({ type: "local", command: [START.command, "mcp"], enabled: true }),
  },
  "copilot-cli": {
    file: ".copilot/mcp-config.json",
    home: true,
    before: '{"mcpServers":{}}',
    entry: JSON.stringify({ type: "local", ...START, tools: ["*"] }),
  },
  "factoryai-droid": {
    file: ".factory/mcp.json",
    before: '{\n  "mcpServers": {}\n}\n',
    entry: JSON.stringify({ type: "stdio", ...START }),
  },
};

interface Status {
  agents: { id: string; mcp?: string }[];
}

function fileOf(repository: TemporaryRepository, { file, home }: { file: string; home?: true }): string {
  return join(home ? repository.home : repository.path, file);
}

async function mcpState(repository: TemporaryRepository, id: string): Promise<string | undefined> {
  const { agents } = await repository.json<Status>(["status"], { env });
  return agents.find((agent) => agent.id === id)?.mcp;
}

for (const [id, agent] of Object.entries(AGENTS))
  describe(id, () => {
    test("gets the server in a separate file that git does not see; disable removes it", async () => {
      using repository = temporaryRepository();
      const file = fileOf(repository, agent);
      await repository.json(["enable", "--agent", id, "--mcp"], { env });
      expect(readFileSync(file, "utf8").replace(/\s/g, "")).toContain(agent.entry);
      expect(repository.git("status", "--porcelain")).toBe("");
      expect(await mcpState(repository, id)).toBe("installed");
      // A second `enable` without --mcp keeps it.
      await repository.json(["enable", "--agent", id], { env });
      expect(await mcpState(repository, id)).toBe("installed");
      await repository.json(["disable"], { env });
      expect(existsSync(file)).toBe(false);
      expect(repository.git("status", "--porcelain")).toBe("");
    });

    test("keeps every byte of a file that the user has", async () => {
      using repository = temporaryRepository();
      const file = fileOf(repository, agent);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, agent.before);
      await repository.json(["enable", "--agent", id, "--mcp"], { env });
      expect(readFileSync(file, "utf8").replace(/\s/g, "")).toContain(agent.entry);
      await repository.json(["disable"], { env });
      expect(readFileSync(file, "utf8")).toBe(agent.before);
    });

    test("has it put back by doctor, and nothing but it", async () => {
      using repository = temporaryRepository();
      await repository.json(["enable", "--agent", id, "--mcp"], { env });
      const file = fileOf(repository, agent);
      const hooks = id === "gemini";
      if (hooks) writeFileSync(file, readFileSync(file, "utf8").replaceAll(START.command, "/gone/backtrail"));
      else rmSync(file);
      const found = await repository.run(["doctor", "--json"], { env });
      const { findings } = JSON.parse(found.stdout) as { findings: { check: string; level: string }[] };
      expect(findings).toContainEqual(expect.objectContaining({ check: "mcp", level: "warning" }));
      await repository.run(["doctor", "--fix"], { env });
      expect(await mcpState(repository, id)).toBe("installed");
    });
  });

test("Claude Code's question about the server is answered only with --trust, and the answer goes with it", async () => {
  using repository = temporaryRepository();
  const settings = repository.write(".claude/settings.local.json", '{"permissions": {}}');
  const asked = await repository.run(["enable", "--agent", "claude-code", "--mcp"], { env });
  expect(asked.stderr).toContain("`backtrail enable --mcp --trust` answers that for you");
  expect(readFileSync(settings, "utf8")).not.toContain("enabledMcpjsonServers");
  await repository.run(["enable", "--agent", "claude-code", "--mcp", "--trust"], { env });
  expect(JSON.parse(readFileSync(settings, "utf8")).enabledMcpjsonServers).toEqual(["backtrail"]);
  await repository.run(["disable"], { env });
  expect(readFileSync(settings, "utf8")).toBe('{"permissions": {}}');
});

test("a server of that name that is not ours is left alone, and said", async () => {
  using repository = temporaryRepository();
  const file = repository.write(".mcp.json", '{"mcpServers": {"backtrail": {"command": "mine"}}}');
  const result = await repository.run(["enable", "--agent", "claude-code", "--mcp"], { env });
  expect([result.code, result.stderr]).toEqual([4, expect.stringContaining("is not ours")]);
  expect(readFileSync(file, "utf8")).toBe('{"mcpServers": {"backtrail": {"command": "mine"}}}');
});

test("an agent without an MCP client is connected without the server, and the output says so", async () => {
  using repository = temporaryRepository();
  const result = await repository.run(["enable", "--agent", "pi", "--mcp"], { env });
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining("Pi has no MCP client")]);
});

test("with --scope user it is in the user's own file, until disable --scope user", async () => {
  using repository = temporaryRepository();
  const file = join(repository.home, ".claude.json");
  writeFileSync(file, '{"numStartups": 3}');
  await repository.json(["enable", "--agent", "claude-code", "--mcp", "--scope", "user"], { env });
  expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.backtrail).toEqual(START);
  await repository.json(["disable", "--scope", "user"], { env });
  expect(readFileSync(file, "utf8")).toBe('{"numStartups": 3}');
});
