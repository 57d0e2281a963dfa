/** A stand-in for tools that put their git hooks back at each prompt and call what they found in their place, as Entire does. */
import { renameSync, rmSync } from "node:fs";
import { type HookedRepository, SHARED_HOOKS } from "./hook-log.ts";

export interface ChainingManager {
  /** What its scripts are known by. */
  mark: string;
  keepsAs: string;
  /** How it calls the hook that it keeps. */
  call: "run" | "exec";
  /** What it does where it has kept a hook already and finds another: overwrites it, or keeps it in place of the first. */
  again: "overwrite" | "rotate";
  /** The name under which its hooks write down that they ran. */
  who?: string;
}

export const ENTIRE: ChainingManager = {
  mark: "Entire CLI hooks",
  keepsAs: ".pre-entire",
  call: "run",
  again: "overwrite",
};

/** Installs hooks as Entire does when it is enabled and at each prompt: only where one of them is not its own. */
export function installManager(hooked: HookedRepository, manager: ChainingManager, directory = ".git/hooks"): void {
  const { repository } = hooked;
  for (const hook of SHARED_HOOKS) {
    const path = `${directory}/${hook}`;
    const kept = `${path}${manager.keepsAs}`;
    const present = repository.exists(path) ? repository.read(path) : null;
    if (present?.includes(manager.mark)) continue;
    if (present !== null) keep(hooked, path, kept, manager);
    const chain = repository.exists(kept) ? [chainLine(hook, manager)] : [];
    hooked.script(path, [`# ${manager.mark}`, hooked.line(hook, manager.who ?? "manager"), ...chain]);
  }
}

function keep({ repository }: HookedRepository, path: string, kept: string, { again }: ChainingManager): void {
  if (repository.exists(kept)) {
    if (again === "overwrite") return;
    renameSync(repository.at(kept), repository.at(`${kept}.stale`));
  }
  renameSync(repository.at(path), repository.at(kept));
}

function chainLine(hook: string, { keepsAs, call }: ChainingManager): string {
  const path = `"$(dirname "$0")/${hook}${keepsAs}"`;
  return `if [ -x ${path} ]; then ${call === "exec" ? "exec " : ""}${path} "$@"; fi`;
}

/** Its scripts go, and what it kept comes back, as Entire does it when it is disabled. */
export function removeManager(hooked: HookedRepository, manager: ChainingManager, directory = ".git/hooks"): void {
  const { repository } = hooked;
  for (const hook of SHARED_HOOKS) {
    const path = `${directory}/${hook}`;
    const kept = `${path}${manager.keepsAs}`;
    const isIts = repository.exists(path) && repository.read(path).includes(manager.mark);
    if (isIts) rmSync(repository.at(path));
    if (repository.exists(kept) && !repository.exists(path)) renameSync(repository.at(kept), repository.at(path));
  }
}
