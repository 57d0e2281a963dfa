/** The commands of docs/team.md set up a hub as the page says: the test runs them as they are written there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, runBinary } from "../support/binary.ts";
import { TemporaryDirectory } from "../support/directory.ts";
import { cleanEnvironment } from "../support/environment.ts";
import { temporaryRepository } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "team.md"), "utf8");

/** The words of each `backtrail` command in the set-up section, without comments and quotes. */
const commands = (page.split("## Set up a hub in ten minutes")[1]?.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("backtrail "))
  .map((line) =>
    line
      .replace(/ +#.*$/, "")
      .replaceAll("'", "")
      .split(" ")
      .slice(1),
  );

describe.skipIf(postgresPrograms === null)("the set-up page", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("works as written", async () => {
    using home = new TemporaryDirectory();
    using machine = temporaryRepository();
    await machine.run(["enable", "--agent", "claude-code"]);
    const env = cleanEnvironment(home.path, { BACKTRAIL_HUB_DATABASE: cluster.create() });
    const ran: string[] = [];
    let [url, link] = ["", ""];
    await using served = new AsyncDisposableStack();
    for (const words of commands) {
      const name = words.slice(0, 2).join(" ");
      ran.push(name);
      if (name === "hub serve") {
        const child = spawn(executable(), [...words, "--json", "--listen", "127.0.0.1:0"], {
          cwd: home.path,
          env,
          stdio: ["ignore", "pipe", "inherit"],
        });
        served.defer(async () => {
          const ended = new Promise((resolve) => child.once("exit", resolve));
          child.kill("SIGTERM");
          await ended;
        });
        url = await new Promise((resolve) =>
          child.stdout.once("data", (data: Buffer) => resolve(JSON.parse(data.toString()).url)),
        );
        continue;
      }
      const given = words.map((word) =>
        word.startsWith("https://hub.example.com/#") ? link.replace("https://hub.example.com", url) : word,
      );
      const options =
        words[0] === "hub"
          ? { cwd: home.path, env }
          : { cwd: machine.path, env: machine.environment({ BACKTRAIL_WORKER: "off" }) };
      const { code, stdout, stderr } = await runBinary([...given, "--json"], options);
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: "" });
      if (name === "hub init") link = JSON.parse(stdout).link;
    }
    expect(ran).toEqual([
      "hub init",
      "hub serve",
      "team join",
      "team preview",
      "team status",
      "hub token",
      "hub token",
    ]);
  }, 300_000);
});
