/** The repositories that the page can show. A client names them by ids that only this server knows, never by paths. */
import { randomBytes } from "node:crypto";
import { UserError } from "../../../base/errors.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Topic } from "../../protocol.ts";
import { OpenRepository } from "./open.ts";

export class Repositories {
  /** Called when another repository is opened. */
  onOpen: () => void = () => undefined;
  onChange: (repository: string, topics: Topic[]) => void = () => undefined;
  readonly first: OpenRepository;
  readonly #ids = new Map<string, string>();
  readonly #workspaces = new Map<string, Workspace>();
  readonly #open = new Map<string, OpenRepository>();

  constructor(workspace: Workspace) {
    const id = this.#idOf(workspace);
    this.first = new OpenRepository(id, workspace);
    this.#open.set(id, this.first);
  }

  /** Makes a workspace known to clients. */
  know(workspace: Workspace): void {
    this.#idOf(workspace);
  }

  known(): { id: string; workspace: Workspace }[] {
    return [...this.#workspaces].map(([id, workspace]) => ({ id, workspace }));
  }

  /** Null if no client knows this root. */
  idOfRoot(root: string | null): string | null {
    return root === null ? null : (this.#ids.get(root) ?? null);
  }

  #idOf(workspace: Workspace): string {
    const known = this.#ids.get(workspace.root);
    if (known !== undefined) return known;
    const id = randomBytes(6).toString("hex");
    this.#ids.set(workspace.root, id);
    this.#workspaces.set(id, workspace);
    return id;
  }

  /** The one that `view` was started in, by default. */
  get(id: string | null): OpenRepository {
    if (id === null || id === this.first.id) return this.first;
    const open = this.#open.get(id);
    if (open) return open;
    const workspace = this.#workspaces.get(id);
    if (!workspace) throw new UserError("not-found", "This repository is not known here.", "Reload the page.");
    const opened = new OpenRepository(id, workspace);
    this.#open.set(id, opened);
    this.onOpen();
    return opened;
  }

  opened(): OpenRepository[] {
    return [...this.#open.values()];
  }

  changed(id: string, topics: Topic[]): void {
    this.#open.get(id)?.invalidate(topics);
    this.onChange(id, topics);
  }

  close(): void {
    for (const repository of this.#open.values()) repository.close();
  }
}
