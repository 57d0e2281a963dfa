/**
 * The registry of agents: built-in ones, those that the user describes in profiles, and external programs that the user
 * admits. It loads each agent separately, because a hook knows from its arguments which agent called it.
 */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { readJson } from "../../base/fs/files.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import { configDirectory } from "../../base/paths.ts";
import { closest, shownPath } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import type { Agent } from "../contract/agent.ts";
import { isAgentId, isProfile, type Profile } from "../contract/profile.ts";
import { PACKAGED } from "./packaged.ts";
import { profileAgent } from "./profile-events.ts";
import { loadEngineFor } from "./regex.ts";

/** The store with a repository's accepted profiles; see repository-profiles.ts. */
export interface RepositoryProfiles {
  storeDir: string;
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

export function acceptedProfilesDirectory({ storeDir }: RepositoryProfiles): string {
  return join(storeDir, "agents");
}

/** Undefined if no agent has this id. */
export async function getAgent(id: string, repository?: RepositoryProfiles): Promise<Agent | undefined> {
  if (!isAgentId(id)) return undefined;
  const own = await ownProfile(id, repository);
  const packaged = packagedAgent(own?.like ?? id) ?? packagedAgent(id);
  if (packaged === undefined) return own ? fromProfile(own) : external(id);
  const profile = own ?? (await packaged.profile());
  const adapter = await packaged.adapter?.();
  return adapter ? adapter(profile) : fromProfile(profile);
}

function packagedAgent(id: string) {
  return Object.hasOwn(PACKAGED, id) ? PACKAGED[id] : undefined;
}

/** Whether a profile of the user, or an accepted one of the repository, replaces a built-in agent. */
export async function isOverridden(id: string, repository?: RepositoryProfiles): Promise<boolean> {
  return packagedAgent(id) !== undefined && (await ownProfile(id, repository)) !== undefined;
}

/** Loads an agent's profile without its adapter, for callers that only start the agent. */
export async function getProfile(id: string, repository?: RepositoryProfiles): Promise<Profile | undefined> {
  if (!isAgentId(id)) return undefined;
  return (await ownProfile(id, repository)) ?? packagedAgent(id)?.profile();
}

export async function listProfiles(repository?: RepositoryProfiles): Promise<Profile[]> {
  const profiles = await Promise.all(describedIds(repository).map((id) => getProfile(id, repository)));
  return profiles.filter((profile) => profile !== undefined);
}

/** Loads an external program, if the user admitted it. */
async function external(id: string): Promise<Agent | undefined> {
  const listed = loadConfig(null).external_agents;
  return listed.length > 0 ? (await import("../external/agent.ts")).externalAgent(id, listed) : undefined;
}

async function externalIds(): Promise<string[]> {
  const listed = loadConfig(null).external_agents;
  return listed.length > 0 ? (await import("../external/programs.ts")).admittedNames(listed) : [];
}

/** The built-in agent, regardless of the user's profiles. */
export async function getPackaged(id: string): Promise<Agent> {
  const packaged = packagedAgent(id);
  if (!packaged) throw new UserError("usage", `There is no agent "${id}" built in.`);
  const profile = await packaged.profile();
  const adapter = await packaged.adapter?.();
  return adapter ? adapter(profile) : fromProfile(profile);
}

/** Loads the code for transcripts, replies and hook files only for a profile that describes them. */
async function fromProfile(profile: Profile): Promise<Agent> {
  const { transcript, hooks } = profile;
  const isPlain = !transcript?.lines && !transcript?.place && !hooks?.notice_reply && !hooks?.template;
  return isPlain ? profileAgent(profile) : (await import("../generic/agent.ts")).describedAgent(profile);
}

/** Finds an agent by the id or short name that the user typed. */
export async function requireAgent(name: string, repository?: RepositoryProfiles): Promise<Agent> {
  const direct = await getAgent(name, repository);
  if (direct) return direct;
  const agents = await listAgents(repository);
  const found = agents.find((agent) => agent.profile.short_names?.includes(name));
  if (found) return found;
  const ids = agents.map((agent) => agent.profile.id);
  if (brokenProfiles(ids).includes(name)) {
    const file = join(userAgentsDirectory(), `${name}.json`);
    throw new UserError("failed", `${shownPath(file)} can't be used.`, `\`backtrail agents check ${name}\` says why.`);
  }
  const near = closest(name, ids);
  const hint = near ? `Did you mean ${near}?` : `Known agents: ${ids.join(", ")}.`;
  throw new UserError("usage", `There is no agent "${name}".`, hint);
}

/** Finds an agent by the name in a checkpoint: its id, its display name, or an earlier one. */
export async function findAgentByName(name: string): Promise<Agent | undefined> {
  return (await getAgent(name)) ?? (await listAgents()).find(({ profile }) => isCalled(profile, name));
}

function isCalled({ display_name, former_names = [] }: Profile, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");
  return [display_name, ...former_names].some((known) => plain(known) === plain(name));
}

/** All agents, sorted by id. */
export async function listAgents(repository?: RepositoryProfiles): Promise<Agent[]> {
  const ids = new Set([...describedIds(repository), ...(await externalIds())]);
  const agents = await Promise.all([...ids].sort().map((id) => getAgent(id, repository)));
  return agents.filter((agent) => agent !== undefined);
}

/** The user's profiles that can't be used: there is none of these ids. */
export function brokenProfiles(known: readonly string[]): string[] {
  return idsIn(userAgentsDirectory())
    .filter((id) => !known.includes(id))
    .sort();
}

/** The sorted ids of all agents with a profile. */
function describedIds(repository: RepositoryProfiles | undefined): string[] {
  const own = repository ? idsIn(acceptedProfilesDirectory(repository)) : [];
  return [...new Set([...Object.keys(PACKAGED), ...idsIn(userAgentsDirectory()), ...own])].sort();
}

/** An agent that we don't know. Its hooks are read by the names that most agents use, and only code is recorded. */
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
    chat: agent.analyzer !== undefined,
    tokens: agent.tellsTokens ?? (agent.analyzer !== undefined && agent.analyzer.countsTokens !== false),
    rewind: agent.forker !== undefined,
    run: agent.profile.run !== undefined,
  };
}

/** A profile accepted for the repository takes precedence over the user's. */
async function ownProfile(id: string, repository: RepositoryProfiles | undefined): Promise<Profile | undefined> {
  const accepted = repository && (await readProfile(join(acceptedProfilesDirectory(repository), `${id}.json`), id));
  return accepted ?? readProfile(join(userAgentsDirectory(), `${id}.json`), id);
}

/** The profile in a file, merged with the profile that its `like` names. Throws on a cycle. */
export async function completeProfile(path: string): Promise<unknown> {
  return complete(await withVersion(readJson(path)), path);
}

/** The agent that a profile outside the usual directories describes. */
export async function agentOfProfile(profile: Profile): Promise<Agent> {
  await loadEngineFor(profile);
  const adapter = await packagedAgent(profile.like ?? profile.id)?.adapter?.();
  return adapter ? adapter(profile) : fromProfile(profile);
}

/** Profiles by their files as they were when they were read. A hook asks for its agent's more than once. */
const RACY_MS = 1_000;
const known = new Map<string, { state: string; profile: Profile }>();

async function readProfile(path: string, id: string): Promise<Profile | undefined> {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!stat) return undefined;
    const state = `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
    const before = known.get(path);
    if (before?.state === state) return before.profile;
    const value = await completeProfile(path);
    if (value === undefined) return undefined;
    if (isProfile(value) && value.id === id) {
      await loadEngineFor(value);
      // The profile named by `like` may change separately, and two changes within one clock tick look alike.
      const isOld = Date.now() - Number(stat.mtimeMs) > RACY_MS;
      if (value.like === undefined && isOld) known.set(path, { state, profile: value });
      return value;
    }
    throw new Error("it is not a profile, or its id is not its file's name");
  } catch (error) {
    logError(`agents/${id}.json`, error);
    return undefined;
  }
}

/** Adds what the profile shares with another agent. A chain of such profiles in the same directory may not come back. */
async function complete(value: unknown, path: string, seen: readonly string[] = []): Promise<unknown> {
  const like = isRecord(value) ? value["like"] : undefined;
  if (like === undefined || !isRecord(value)) return value;
  const chain = [...seen, String(value["id"])];
  if (!isAgentId(like)) throw new Error("like: not an agent's id");
  const { merged } = await import("./like.ts");
  // A profile may change parts of the built-in profile with its name.
  const isOwn = like === value["id"] && packagedAgent(like) !== undefined;
  if (!isOwn && chain.includes(like)) throw new Error(`like: ${circle([...chain, like])}`);
  const file = isOwn ? undefined : await withVersion(readJson(join(dirname(path), `${like}.json`)));
  const base = file === undefined ? await packagedAgent(like)?.profile() : await complete(file, path, chain);
  if (base === undefined) throw new Error(`like: there is no agent "${like}"`);
  const root = isRecord(base) && base["like"] !== undefined ? { like: base["like"] } : {};
  return { ...(merged(base, value) as object), ...root };
}

function circle(ids: readonly string[]): string {
  if (ids.length === 2) return `${ids[0]} can't be like itself`;
  return `${ids
    .slice(1)
    .map((id, i) => `${ids[i]} is like ${id}`)
    .join(", ")}: that is a circle`;
}

/** Upgrades a profile without a version. Loads the upgrade code only for such a profile. */
async function withVersion(value: unknown): Promise<unknown> {
  if (!isRecord(value) || value["v"] !== undefined) return value;
  return (await import("../contract/older-profile.ts")).upgradedProfile(value);
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
    v: 2,
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
