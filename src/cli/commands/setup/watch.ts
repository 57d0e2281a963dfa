/** `watch`: records agents without hooks by following the files that they write, until stopped. */

import { join, resolve } from "node:path";
import type { Agent } from "../../../agents/contract/agent.ts";
import { listAgents, requireAgent } from "../../../agents/registry/registry.ts";
import { UserError } from "../../../base/errors.ts";
import { tryAcquire } from "../../../base/fs/lock.ts";
import { oneLine } from "../../../base/text.ts";
import { readStore, type Workspace } from "../../../git/workspace.ts";
import { watch } from "../../../recording/watch.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { fit } from "../../render/layout/text.ts";
import { settingsOf } from "../../shared/settings.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import type { watchCommand } from "./commands.ts";

const TURN = "turn   ";

type Options = OptionsOf<typeof watchCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openWorkspace(io);
  if (options.id !== undefined && options.agent !== undefined && options.id !== options.agent)
    throw new UserError("usage", "Two agents were given.", "Name one, or none to watch all that are connected here.");
  const agents = await watchedAgents(workspace, options.id ?? options.agent);
  if (options.file !== undefined && agents.length > 1) {
    throw new UserError("usage", "--file needs the name of an agent: several are connected here.");
  }
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once("SIGINT", end).once("SIGTERM", end).once("SIGHUP", end);
  await Promise.all(agents.map((agent) => watchOne(workspace, agent, options.file, io, stop.signal)));
  io.say("Stopped watching.");
}

async function watchOne(
  workspace: Workspace,
  agent: Agent,
  file: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const { watcher, profile } = agent;
  if (!watcher) return;
  const lock = tryAcquire(join(workspace.stateDir, `watch-${profile.id}.lock`));
  if (!lock) throw new UserError("refused", `Another \`backtrail watch\` follows ${profile.display_name} here.`);
  try {
    const path = file === undefined ? join(workspace.root, watcher.file) : resolve(io.cwd, file);
    const { config } = settingsOf(workspace);
    const onBegin = () =>
      io.say(`Following ${placeOf(path, workspace.root)} of ${profile.display_name}; Ctrl-C stops.`);
    const onEvent = (type: string, prompt: string | null) => {
      if (type === "TurnStart")
        io.print(`${io.out.paint("bold", TURN)}${fit(oneLine(prompt ?? ""), io.out.columns - TURN.length)}`);
      if (type === "TurnEnd") io.print(`${io.out.paint("green", "saved")}`);
    };
    await watch({ workspace, agent, watcher, file: path, config, onBegin, onEvent }, signal);
  } finally {
    lock.release();
  }
}

/** The named agent, or all agents connected here. */
async function watchedAgents(workspace: Workspace, name: string | undefined): Promise<Agent[]> {
  const connected = readStore(workspace)?.agents ?? {};
  if (name !== undefined) {
    const agent = await requireAgent(name);
    const { id, display_name: shown } = agent.profile;
    if (!agent.watcher) throw new UserError("usage", `${shown} has hooks, so it needs no watching.`);
    if (!connected[id]) throw notConnected(shown, id);
    return [agent];
  }
  const known = (await listAgents()).filter((agent) => agent.watcher);
  const agents = known.filter(({ profile }) => connected[profile.id]);
  const [first] = known;
  if (agents.length > 0 || !first) return agents;
  throw notConnected(first.profile.display_name, first.profile.id);
}

function notConnected(name: string, id: string): UserError {
  return new UserError(
    "not-found",
    `${name} is not connected here.`,
    `Connect it with \`backtrail enable --agent ${id}\`.`,
  );
}
