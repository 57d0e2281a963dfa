/**
 * The context of a tool: the repository around the server's directory, redaction, and the calling session. An agent
 * waits for the server at each start, so each tool's dependencies are loaded with its first call.
 */
import { UserError } from "../base/errors.ts";
import { logTo } from "../base/log.ts";
import { shownPath } from "../base/text.ts";
import type { Redaction } from "../checkpoints/write/redaction.ts";
import { findWorkspace, requireWorkspace, type Workspace } from "../git/workspace.ts";
import { loadSession, marked, type SessionState, sessionOfShell } from "../recording/session/store.ts";

export class Context {
  readonly cwd: string;
  /** The name that the client gives itself; undefined before it has. */
  client: () => string | undefined = () => undefined;
  #redaction: { root: string; opened: Promise<Redaction> } | undefined;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  /** For tools that only read: repairs nothing and writes nothing. */
  read(): Workspace {
    try {
      const workspace = requireWorkspace(this.cwd);
      logTo(workspace.storeDir);
      return workspace;
    } catch (error) {
      throw error instanceof UserError && error.kind === "not-found" ? this.#nothingRecorded() : error;
    }
  }

  /** For tools that write: first finishes interrupted commands, as every command does. */
  async write(): Promise<Workspace> {
    this.read();
    return (await import("../api/workspace.ts")).openWorkspace(this.cwd);
  }

  /** Replaces secrets by placeholders. */
  async redaction(workspace: Workspace): Promise<Redaction> {
    if (this.#redaction?.root !== workspace.root) this.#redaction = { root: workspace.root, opened: open(workspace) };
    return this.#redaction.opened;
  }

  /**
   * The session whose agent calls; undefined if that is not certain. The agent calls in the middle of a turn, so among
   * the sessions that are, the client's name decides.
   */
  caller(workspace: Workspace): SessionState | undefined {
    const known = sessionOfShell(workspace);
    if (known) return known;
    const active = marked(workspace, "active").flatMap((key) => loadSession(workspace, key) ?? []);
    const name = (this.client() ?? "").toLowerCase();
    const named = active.filter(({ agent }) => name.startsWith(agent.replace(/^factoryai-|-cli$/g, "")));
    const [only, ...others] = named.length > 0 ? named : active;
    return others.length === 0 ? only : undefined;
  }

  #nothingRecorded(): UserError {
    const where = shownPath(findWorkspace(this.cwd)?.root ?? this.cwd);
    return new UserError(
      "not-found",
      `Backtrail records nothing in ${where}.`,
      "A person can start it there with `backtrail enable`.",
    );
  }
}

async function open(workspace: Workspace): Promise<Redaction> {
  return (await import("../checkpoints/write/redaction.ts")).openRedaction(workspace);
}
