/** Settings of ours in every layer: what is wrong is named, and what counts has the shape that everybody relies on. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { loadSettings, ownFile, projectFile, userFile, workTreeFile } from "../../../src/config/load.ts";
import { tierProblems } from "../../../src/config/schema.ts";
import { tierRules } from "../../../src/recording/tiers/tiers.ts";
import { temporaryDirectory } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

const SEED = {
  enabled: true,
  agent: "codex",
  tier: "mine",
  tiers: { mine: { rules: [{ on: "ToolEnd", tools: ["write"], min_interval: 30 }] } },
  capture: { max_file_size: "50 MB", exclude: ["*.bin"] },
  retention: { days: 30, max_size: "1 GiB" },
  push: { enabled: true, remote: "origin" },
  redaction: { rules: ["A-[0-9]{6}"], allow: ["x"] },
  external_agents: ["/bin/sh"],
  run: { agents: { claude: { model: "opus", args: ["--x"] } } },
};

export const configuration: Target = {
  name: "configuration",
  cost: 2,
  async open() {
    const place = temporaryDirectory();
    const before = process.env["BACKTRAIL_HOME"];
    process.env["BACKTRAIL_HOME"] = place.at("home");
    const root = place.at("repository");
    const where = { root, storeDir: place.at("store") };
    const files = {
      user: userFile(),
      project: projectFile(root),
      workTree: workTreeFile(root),
      own: ownFile(where),
    };
    for (const file of Object.values(files)) mkdirSync(dirname(file), { recursive: true });
    return {
      input(random) {
        const text = JSON.stringify(SEED);
        const body = random.once(3) ? damaged(random, Buffer.from(text)) : damagedJson(random, text);
        return labeled({ layer: random.pick(Object.keys(files)) }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const layer = about["layer"] as keyof typeof files;
        for (const file of Object.values(files)) writeFileSync(file, "{}");
        writeFileSync(files[layer], body);
        const { config } = loadSettings(where, { environment: {} });
        demand(
          typeof config.enabled === "boolean" && typeof config.tier === "string",
          "A setting has the wrong shape.",
        );
        const numbers = [config.capture.max_file_size, config.retention.days, config.retention.max_size];
        demand(
          numbers.every((value) => Number.isFinite(value) && value >= 0),
          "A number makes no sense.",
        );
        demand(
          [config.capture.exclude, config.redaction.rules, config.external_agents].every(
            (list) => Array.isArray(list) && list.every((item) => typeof item === "string"),
          ),
          "A list has the wrong shape.",
        );
        // What can start a program or let something leave never comes from a file that lies in the work tree.
        if (layer === "project" || layer === "workTree")
          demand(
            config.external_agents.length === 0 && !config.push.enabled && config.redaction.allow.length === 0,
            "A guarded setting counted.",
          );
        for (const tier of Object.values(config.tiers)) tierProblems(tier);
        tierRules(config.tier, config.tiers);
      },
      close() {
        if (before === undefined) delete process.env["BACKTRAIL_HOME"];
        else process.env["BACKTRAIL_HOME"] = before;
        place.remove();
      },
    };
  },
};
