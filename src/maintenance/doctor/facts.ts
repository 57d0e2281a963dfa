/** What the checks of `doctor` find and what its repairs do, as data. cli/render/words/setup/doctor.ts has the sentences. */
import type { SharedBy } from "../../checkpoints/branch/relocate.ts";
import type { EntireTraces } from "../../checkpoints/entire/traces.ts";
import type { GitHooksFound } from "../../checkpoints/git-hooks/install.ts";
import type { SettingDefect } from "../../config/problems.ts";

/** Paths are relative to the work tree if they are inside of it. */
export type DoctorFact =
  | { kind: "check-failed"; reason: string }
  | { kind: "git-version"; version: string }
  | { kind: "git-too-old"; version: string | null; required: string }
  | StoreFact
  | PrivacyFact
  | StepFact
  | UnfinishedFact
  | HookFact
  | ScopeFact
  | SettingFact;

type StoreFact =
  | { kind: "store-made-later" }
  | { kind: "store-absent" }
  | { kind: "store-record-broken" }
  | { kind: "store-of-other-version" }
  | { kind: "store-read-only"; directory: string; code: string | undefined }
  | { kind: "store-usable"; directory: string }
  | ({ kind: "size" } & Sizes)
  | ({ kind: "size-exceeded" } & Sizes);

/** In bytes. */
interface Sizes {
  steps: number;
  limit: number;
  /** What restores still need; the limit does not count it. */
  redoable: number;
}

type PrivacyFact =
  | { kind: "private" }
  | { kind: "readable-by-others"; paths: readonly string[] }
  | { kind: "owned-by-another"; paths: readonly string[] }
  | { kind: "settings-readable-by-others"; paths: readonly string[] }
  | { kind: "conversations-in-object-store"; objects: number }
  | { kind: "conversations-not-moved" }
  | { kind: "private-files-in-object-store"; paths: readonly string[]; steps: readonly string[] };

type StepFact =
  | { kind: "steps-listed"; steps: number }
  | { kind: "steps-unlisted"; steps: readonly string[] }
  | { kind: "steps-not-stored"; steps: readonly string[] }
  | { kind: "steps-unknown"; steps: readonly string[] }
  | { kind: "steps-without-copy"; steps: readonly string[] }
  | { kind: "ref-unreadable"; ref: string }
  | { kind: "objects-complete" }
  | MissingObjects
  | { kind: "conversations-incomplete"; sessions: readonly string[] }
  | { kind: "clock-right" }
  | { kind: "steps-from-future"; steps: number; last: string };

/** `reason`: git's; null if git gave none. */
export type MissingObjects =
  | { kind: "objects-missing"; reason: string | null }
  | { kind: "private-files-missing"; steps: number };

type UnfinishedFact =
  | { kind: "saves-done" }
  | { kind: "forget-unfinished" }
  | { kind: "saves-unfinished"; saves: number }
  | { kind: "no-locks" }
  | { kind: "git-locks"; paths: readonly string[] }
  | { kind: "locks-abandoned"; paths: readonly string[] }
  | { kind: "restores-done" }
  | { kind: "restores-unfinished"; restores: number }
  | { kind: "turns-ended" }
  | { kind: "turns-orphaned"; turns: number }
  | { kind: "turn-very-long"; session: string; agent: string; since: string }
  | { kind: "queue"; checkpoints: number }
  | { kind: "queue-stuck"; checkpoints: number; since: string }
  | { kind: "queue-unreadable"; files: readonly string[] }
  | { kind: "checkpoints-lost"; checkpoints: readonly string[] }
  | { kind: "pushes-done" }
  | { kind: "push-failed"; remote: string; time: string; reason: string }
  | { kind: "branch-stays-shared"; why: SharedBy };

/** Of an agent, of git, or of the MCP server. */
type HookFact =
  | { kind: "agent-profile-gone"; agent: string }
  | { kind: "agent-without-hooks"; agent: string; by: "watch" | "runs" }
  | { kind: "agent-file-unusable"; file: string; reason: string }
  | { kind: "hooks-outdated"; agent: string; file: string }
  | { kind: "hooks-gone"; agent: string; file: string }
  /** Worded by `agents/hooks`. */
  | { kind: "hooks-obstructed"; obstacle: string; text: string; remedy: string }
  | { kind: "hooks-not-called"; agent: string; session: string; time: string }
  | { kind: "hooks-called"; agent: string; file: string | null; last: string | null }
  | { kind: "hooks-not-called-yet"; agent: string; file: string | null }
  | { kind: "no-agent-connected" }
  | GitHookFact
  | { kind: "mcp-outdated"; agent: string; file: string }
  | { kind: "mcp-gone"; agent: string; file: string }
  | { kind: "mcp-installed"; agent: string; file: string }
  | { kind: "agent-version-tested"; agent: string; version: string }
  | { kind: "agent-never-tested"; agent: string; version: string }
  | {
      kind: "agent-version-untested";
      agent: string;
      version: string;
      than: "newer" | "older";
      tested: readonly string[];
    };

type GitHooksState = GitHooksFound["state"];

/** `git-hooks-installed`, `git-hooks-missing` …: one kind for each state. */
type GitHookFact = { [State in GitHooksState]: { kind: `git-hooks-${State}` } & GitHookValues }[GitHooksState];

interface GitHookValues {
  directory: string;
  /** The hook manager, if a known one is there. */
  manager: string | null;
  hooks: readonly string[];
  isForced: boolean;
  isUserScopeAlone: boolean;
}

type ScopeFact =
  | { kind: "scope-user"; agents: readonly string[]; isRepository: boolean }
  | { kind: "scope-disabled" }
  | { kind: "scope-excluded"; pattern: string }
  | { kind: "scope-too-large" }
  | { kind: "scope-not-owned" }
  | ({ kind: "entire" } & EntireTraces);

type SettingFact =
  | { kind: "setting-ignored"; file: string; key: string | null; defect: SettingDefect; isUntrusted: boolean }
  | { kind: "profile-untrusted"; file: string }
  | { kind: "tier-invalid"; tier: string; reason: string }
  | { kind: "tier-unknown"; tier: string; known: readonly string[] }
  | { kind: "recording-off" }
  | { kind: "settings-valid"; tier: string; rules: number }
  | { kind: "log-empty" }
  | { kind: "log-failure"; where: string; message: string; count: number; last: string }
  | { kind: "log-more"; messages: number };

/** What a repair did. */
export type DoctorRepair =
  | { kind: "steps-relisted"; steps: number }
  | { kind: "lost-checkpoints-written"; checkpoints: number }
  | { kind: "waiting-checkpoints-written" }
  | { kind: "permissions-closed"; paths: number }
  | { kind: "agent-hooks-reinstalled"; agent: string; file: string }
  | { kind: "git-hooks-reinstalled" }
  | { kind: "mcp-reinstalled"; agent: string; file: string }
  /** A note of the installer, in its words. */
  | { kind: "hooks"; text: string };

export function installerNotes(notes: readonly string[]): DoctorRepair[] {
  return notes.map((text) => ({ kind: "hooks", text }));
}
