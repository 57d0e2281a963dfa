/**
 * The agents there are: packaged ones, those that the user describes, and programs that the user admits. One agent is
 * loaded without the others, since a hook knows by its arguments which one called it.
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { configDirectory } from "../base/paths.ts";
import { closest } from "../base/text.ts";
import { loadConfig } from "../config/load.ts";
import type { Agent } from "./agent.ts";
import { profileAgent } from "./common.ts";
import { PACKAGED } from "./packaged.ts";
import { isAgentId, isProfile, type Profile } from "./profile.ts";

/** A repository may add profiles of its own, but only in files that git doesn't track: they can run commands. */
export interface RepositoryProfiles {
  root: string;
  isTracked(path: string): boolean;
}

export interface Capabilities {
  hooks: boolean;
  chat: boolean;
  tokens: boolean;
  rewind: boolean;
  run: boolean;
}

export function userAgentsDirectory(): string {
  return join(configDirectory(), "agents");
}

/** Undefined where nobody has described an agent of that id. */
export async function getAgent(id: string, repository?: RepositoryProfiles): Promise<Agent | undefined> {
  if (!isAgentId(id)) return undefined;
  const own = ownProfile(id, repository);
  const packaged = Object.hasOwn(PACKAGED, id) ? PACKAGED[id] : undefined;
  if (packaged === undefined) return own ? fromProfile(own) : external(id);
  const profile = own ?? (await packaged.profile());
  const adapter = await packaged.adapter?.();
  return adapter ? adapter(profile) : fromProfile(profile);
}

/** What is said about an agent, without its code: for whoever only starts it. */
export async function getProfile(id: string, repository?: RepositoryProfiles): Promise<Profile | undefined> {
  if (!isAgentId(id)) return undefined;
  const packaged = Object.hasOwn(PACKAGED, id) ? PACKAGED[id] : undefined;
  return ownProfile(id, repository) ?? packaged?.profile();
}

export async function listProfiles(repository?: RepositoryProfiles): Promise<Profile[]> {
  const profiles = await Promise.all(describedIds(repository).map((id) => getProfile(id, repository)));
  return profiles.filter((profile) => profile !== undefined);
}

/** A program that the user has admitted. */
async function external(id: string): Promise<Agent | undefined> {
  const listed = loadConfig(null).external_agents;
  return listed.length > 0 ? (await import("./external/agent.ts")).externalAgent(id, listed) : undefined;
}

async function externalIds(): Promise<string[]> {
  const listed = loadConfig(null).external_agents;
  return listed.length > 0 ? (await import("./external/programs.ts")).admittedNames(listed) : [];
}

/** As it is built in, whatever the user describes. */
export async function getPackaged(id: string): Promise<Agent> {
  const packaged = Object.hasOwn(PACKAGED, id) ? PACKAGED[id] : undefined;
  if (!packaged) throw new UserError("usage", `There is no agent "${id}" built in.`);
  const profile = await packaged.profile();
  const adapter = await packaged.adapter?.();
  return adapter ? adapter(profile) : fromProfile(profile);
}

/** What reads transcripts is loaded only for a profile that describes them. */
async function fromProfile(profile: Profile): Promise<Agent> {
  const lines = profile.transcript?.lines;
  return lines ? (await import("./generic/agent.ts")).describedAgent(profile, lines) : profileAgent(profile);
}

/** By id or short name, for what a person types. */
export async function requireAgent(name: string, repository?: RepositoryProfiles): Promise<Agent> {
  const direct = await getAgent(name, repository);
  if (direct) return direct;
  const agents = await listAgents(repository);
  const found = agents.find((agent) => agent.profile.short_names?.includes(name));
  if (found) return found;
  const ids = agents.map((agent) => agent.profile.id);
  const near = closest(name, ids);
  const hint = near ? `Did you mean ${near}?` : `Known agents: ${ids.join(", ")}.`;
  throw new UserError("usage", `There is no agent "${name}".`, hint);
}

/** All of them, by id. */
export async function listAgents(repository?: RepositoryProfiles): Promise<Agent[]> {
  const ids = new Set([...describedIds(repository), ...(await externalIds())]);
  const agents = await Promise.all([...ids].sort().map((id) => getAgent(id, repository)));
  return agents.filter((agent) => agent !== undefined);
}

/** Those with a profile, in order. */
function describedIds(repository: RepositoryProfiles | undefined): string[] {
  const own = repository ? idsIn(repositoryDirectory(repository)) : [];
  return [...new Set([...Object.keys(PACKAGED), ...idsIn(userAgentsDirectory()), ...own])].sort();
}

/** Whoever it is: recorded by the names that most agents use, code only. */
export function unknownAgent(id = "unknown"): Agent {
  const profile = unknownProfile(id);
  const common = profileAgent(profile);
  return {
    profile,
    toEvent: (envelope, context) => common.toEvent(envelope, { ...context, sessionId: context.sessionId ?? "unknown" }),
  };
}

export function capabilitiesOf(agent: Agent): Capabilities {
  return {
    hooks: Object.keys(agent.profile.hooks?.install ?? {}).length > 0,
    chat: agent.analyser !== undefined,
    tokens: agent.tellsTokens ?? (agent.analyser !== undefined && agent.analyser.countsTokens !== false),
    rewind: agent.forker !== undefined,
    run: agent.profile.run !== undefined,
  };
}

/** The repository's own profile counts before the user's. */
function ownProfile(id: string, repository: RepositoryProfiles | undefined): Profile | undefined {
  const ofRepository = repository && repositoryProfile(id, repository);
  return ofRepository ?? readProfile(join(userAgentsDirectory(), `${id}.json`), id);
}

function repositoryProfile(id: string, repository: RepositoryProfiles): Profile | undefined {
  const directory = repositoryDirectory(repository);
  const path = join(directory, `${id}.json`);
  try {
    // A pipe would keep its reader waiting for ever.
    if (!lstatSync(path).isFile()) return undefined;
    // A tracked link could lead to a tracked file by a path that git doesn't know.
    if (realpathSync(path) !== join(realpathSync(repository.root), ".backtrail", "agents", `${id}.json`))
      return undefined;
    if (repository.isTracked(path)) return undefined;
  } catch {
    return undefined;
  }
  return readProfile(path, id);
}

function repositoryDirectory(repository: RepositoryProfiles): string {
  return join(repository.root, ".backtrail", "agents");
}

function readProfile(path: string, id: string): Profile | undefined {
  try {
    const value = readJson(path);
    if (value === undefined) return undefined;
    if (isProfile(value) && value.id === id) return value;
    throw new Error("it is not a profile, or its id is not its file's name");
  } catch (error) {
    logError(`agents/${id}.json`, error);
    return undefined;
  }
}

function idsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
    return names.map((name) => name.slice(0, -".json".length)).filter(isAgentId);
  } catch {
    return [];
  }
}

function unknownProfile(id: string): Profile {
  return {
    v: 1,
    id,
    display_name: id === "unknown" ? "Unknown agent" : id,
    detection: { min_score: 0, score_rules: [] },
    hooks: {
      settings: {},
      install: {},
      fields: {
        event: ["$.hook_event_name", "$.event", "$.event_name", "$.type"],
        session_id: ["$.session_id", "$.conversation_id", "$.thread_id"],
        cwd: ["$.cwd", "$.workspace"],
        transcript_path: ["$.transcript_path"],
        prompt: ["$.prompt", "$.user_prompt"],
        model: ["$.model"],
        tool_name: ["$.tool_name"],
        tool_input: ["$.tool_input"],
      },
      events: {
        SessionStart: "SessionStart",
        UserPromptSubmit: "TurnStart",
        TurnStart: "TurnStart",
        Stop: "TurnEnd",
        TurnEnd: "TurnEnd",
        SessionEnd: "SessionEnd",
        PreCompact: "Compaction",
      },
      tools: {},
    },
    protected_dirs: [],
    tested_versions: [],
  };
}
