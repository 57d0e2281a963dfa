/** Secrets are placeholders in every answer of the server, until one is asked for. */
import { expect, test } from "bun:test";
import { bash, write } from "../support/index.ts";
import { McpClient } from "../support/mcp.ts";
import { startView } from "../support/view/server.ts";
import { recorded } from "./recorded.ts";

const SECRET = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

test("no answer has a secret in it, neither of a query nor of a plan", async () => {
  using made = await recorded();
  const { repository, agent } = made;
  const deeds = [
    bash(`echo built > ../${SECRET}.log; true`),
    bash(`git config --local backtrail.test ${SECRET}`),
    write("key.txt", `token = "${SECRET}"\n`),
  ];
  await agent.turn(`Use ${SECRET}`, deeds, `Used ${SECRET}.`);
  repository.commit("Keep the key");
  await agent.turn(`Explain ${SECRET}`, [write("b.txt", "two\n")], "Explained.");
  await repository.run(["save", `with ${SECRET}`]);
  expect((await repository.run(["fork", "2", "--branch", "other"])).code).toBe(0);
  {
    await using client = await McpClient.connect(repository);
    const turn = /^([k-z]{12}): .*\n> Use /m.exec(await client.ask("turns"))?.[1] ?? "";
    await client.ask("propose_undo", { turn, reason: `It shows ${SECRET}.` });
  }
  await using view = await startView(repository);
  const turns = (await view.get("timeline")).items.filter(({ kind }) => kind === "turn");
  const id = turns.at(1)?.id ?? "";
  const { session } = agent;
  const commit = (await view.get("commits", {})).commits[0]?.id ?? "";
  const fork = (await view.get("forks")).forks[0]?.id ?? "";
  const proposals = await view.get("proposals");
  const proposal = proposals.available ? (proposals.proposals[0]?.id ?? "") : "";
  const call = (await view.get("turn", { id })).tools[0]?.id ?? "";
  const answers: Record<string, unknown> = {
    timeline: await view.get("timeline"),
    turn: await view.get("turn", { id }),
    toolCall: await view.get("toolCall", { turn: id, call }),
    changes: await view.get("changes", { turn: id }),
    fileDiff: await view.get("fileDiff", { turn: id, path: "key.txt" }),
    moments: await view.get("moments", {}),
    file: await view.get("file", { step: id, path: "key.txt" }),
    blame: await view.get("blame", { path: "key.txt" }),
    sessions: await view.get("sessions"),
    session: await view.get("session", { id: session }),
    conversation: await view.get("conversation", { session }),
    entry: await view.get("entry", { session, index: "0" }),
    sessionImages: await view.get("sessionImages", { session }),
    entryImages: await view.get("entryImages", { session, index: "0" }),
    commits: await view.get("commits", {}),
    commit: await view.get("commit", { id: commit }),
    forks: await view.get("forks"),
    fork: await view.get("fork", { id: fork }),
    runs: await view.get("runs"),
    search: await view.get("search", { q: "Used" }),
    proposals,
    rewind: await view.post("plan", { action: "rewind", target: id, side: "before" }),
    undo: await view.post("plan", { action: "undo", turns: [id] }),
    "plan of a fork": await view.post("plan", { action: "fork", target: id }),
    proposal: await view.post("plan", { action: "proposal", proposal }),
  };
  await agent.begin(`Go on with ${SECRET}`);
  answers["undo beside a running turn"] = await view.post("plan", { action: "undo", turns: [id] });
  const told = Object.entries(answers).filter(([, answer]) => JSON.stringify(answer).includes(SECRET));
  expect(told.map(([name, answer]) => `${name}: ${around(JSON.stringify(answer))}`)).toEqual([]);
});

function around(text: string): string {
  const at = text.indexOf(SECRET);
  return text.slice(Math.max(0, at - 80), at + 10);
}
