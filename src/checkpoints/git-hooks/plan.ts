/**
 * Plans where our script for one hook belongs and which files must move. The plan depends only on the files, so
 * `doctor` can report what `enable` and the worker would do.
 *
 * Our script takes the hook's own name and calls the hook that had it. If another manager calls the hook that it
 * replaced (Entire, pre-commit), our script takes that hook's path instead: the manager keeps the name that it insists
 * on, and neither tool has a reason to replace the other. A file that leads to our script is never taken for the user's
 * hook.
 */
import { calls, covers, findOurs, type HookFile, type HookFiles, keptName } from "./files.ts";
import { type HookManager, managerOf } from "./managers.ts";
import { callsEarlier, hasGuard, readsInput } from "./script.ts";

export interface HookView {
  hook: string;
  files: HookFiles;
  /** Replaced hooks in the store, newest first. */
  setAside: readonly SetAsideHook[];
  /** True if the file runs a script of ours in another directory. */
  leadsElsewhere(file: HookFile): boolean;
}

export interface SetAsideHook extends HookFile {
  /** Its name in the store. */
  stored: string;
}

export type HookMove =
  /** Gives the same bytes a second name, replacing any file of that name. */
  | { do: "copy"; from: string; to: string }
  | { do: "rename"; from: string; to: string }
  /** Moves the file into the store. */
  | { do: "set aside"; name: string }
  | { do: "recover"; stored: string; to: string }
  /** Only removes our own scripts. */
  | { do: "remove"; name: string };

export interface HookPlan {
  /**
   * `circular`: hooks call each other, or one runs twice; `replaced`: another file has replaced our script;
   * `unsettled`: another manager replaces our script at its current path; `left`: a change would break existing hooks.
   */
  finding: "in place" | "absent" | "replaced" | "circular" | "unsettled" | "left";
  /** The file that our script is written to after the moves; null if no script is written. */
  site: string | null;
  moves: HookMove[];
  /** The hook that our script calls. */
  kept: HookFile | null;
}

export function planInstall(view: HookView): HookPlan {
  const top = view.files.get(view.hook);
  const plan = top && !top.isOurs ? besideOther(view, top) : planOwnName(view, top);
  return { ...plan, moves: [...plan.moves, ...removeCopies(view, plan)] };
}

/** Plans the removal of our scripts. `kept` is then a user's hook that could not be restored. */
export function planRemove(view: HookView): HookPlan {
  const plan = planInstall(view);
  const top = view.files.get(view.hook);
  const isAbsent = plan.finding === "replaced" || plan.finding === "absent" || plan.finding === "left";
  if (top && !top.isOurs && isAbsent) return planLeave(view, top);
  if (plan.site === null) return plan;
  const last: HookMove = plan.kept
    ? { do: "rename", from: keptName(view.hook), to: plan.site }
    : { do: "remove", name: plan.site };
  return { ...plan, moves: [...plan.moves, last], kept: null };
}

/** Plans the case in which git runs our script by the hook's name, or no hook at all. */
function planOwnName(view: HookView, script: HookFile | undefined): HookPlan {
  const { hook } = view;
  const kept = keptOf(view);
  const copy = kept && findOurs(view.files, kept, hook);
  if (kept && copy) {
    // The kept hook is a manager's, not the user's: it gets the name back, and the script that it calls is ours.
    const user = recoverable(view, kept, copy);
    const moves: HookMove[] = [{ do: "rename", from: kept.name, to: hook }];
    if (user) moves.push({ do: "recover", stored: user.stored, to: kept.name });
    return { finding: "circular", site: copy.name, moves, kept: user ?? null };
  }
  const below = kept && siteBelow(view, kept);
  if (kept && below) {
    const found = view.files.get(below);
    const moves: HookMove[] = [{ do: "rename", from: kept.name, to: hook }];
    if (found) moves.push({ do: "copy", from: below, to: kept.name });
    return { finding: "unsettled", site: below, moves, kept: found ?? null };
  }
  const finding = script ? "in place" : "absent";
  if (!script && kept && managerOf(kept.content)?.adoptsBySign) {
    // The manager removed our script as one of its own, so the manager is no longer installed.
    return { finding, site: hook, moves: [{ do: "set aside", name: kept.name }], kept: null };
  }
  return { finding, site: hook, moves: [], kept: kept ?? null };
}

/** Plans the case in which git runs a hook that is not ours. */
function besideOther(view: HookView, top: HookFile): HookPlan {
  const { hook, files } = view;
  const kept = keptOf(view);
  const ours = findOurs(files, top, hook);
  if (ours && !keepsInputToItself(managerOf(top.content), hook)) {
    const needless = kept && (covers(top, kept) || findOurs(files, kept, hook));
    const moves: HookMove[] = needless ? [{ do: "set aside", name: kept.name }] : [];
    const user = kept && !needless ? undefined : recoverable(view, top, ours);
    if (user) moves.push({ do: "recover", stored: user.stored, to: keptName(hook) });
    const isCircular = needless || user !== undefined;
    const calledNow = needless ? user : (kept ?? user);
    return { finding: isCircular ? "circular" : "in place", site: ours.name, moves, kept: calledNow ?? null };
  }
  if (calls(top, keptName(hook), hook)) return { finding: "left", site: null, moves: [], kept: kept ?? null };
  if (view.leadsElsewhere(top)) return { finding: "in place", site: null, moves: [], kept: kept ?? null };
  const below = siteBelow(view, top);
  const finding = [...files.values()].some((file) => file.isOurs) || kept ? "replaced" : "absent";
  if (below) {
    const found = files.get(below);
    const again = found && copyBelow(view, top, found);
    // Two managers call each other: ours takes the place of the copy, and the hook that ours calls stays.
    if (again)
      return { finding: "circular", site: again, moves: [{ do: "set aside", name: again }], kept: kept ?? null };
    const moves: HookMove[] = [];
    if (kept && kept.identity !== found?.identity) moves.push({ do: "set aside", name: kept.name });
    if (found) moves.push({ do: "copy", from: below, to: keptName(hook) });
    return { finding, site: below, moves, kept: found ?? null };
  }
  return {
    finding,
    site: hook,
    moves: [...giveWay(view, top, kept), { do: "copy", from: hook, to: keptName(hook) }],
    kept: top,
  };
}

/** Moves our kept hook after another tool took the hook's name: to where that tool would keep it, or to the store. */
function giveWay(view: HookView, top: HookFile, kept: HookFile | undefined): HookMove[] {
  if (!kept || kept.identity === top.identity) return [];
  const keepsAs = managerOf(top.content)?.keepsAs;
  const place = keepsAs ? `${view.hook}${keepsAs}` : undefined;
  const isFree = place !== undefined && view.files.get(place)?.isOurs === true && !covers(top, kept);
  return isFree ? [{ do: "rename", from: kept.name, to: place }] : [{ do: "set aside", name: kept.name }];
}

/** Plans the removal of our scripts when git runs a hook that is not ours. */
function planLeave(view: HookView, top: HookFile): HookPlan {
  const kept = keptOf(view);
  const [back] = giveWay(view, top, kept);
  const moves: HookMove[] = back?.do === "rename" ? [back] : [];
  const taken = moves.length > 0 && back?.do === "rename" ? back.to : null;
  const isLeft = kept && moves.length === 0 && !covers(top, kept);
  if (kept && moves.length === 0 && !isLeft) moves.push({ do: "set aside", name: kept.name });
  const plan: HookPlan = { finding: "left", site: null, moves, kept: isLeft ? kept : null };
  const copies = [...view.files.values()].filter((file) => file.isOurs && file.name !== taken);
  return { ...plan, moves: [...moves, ...copies.map(({ name }): HookMove => ({ do: "remove", name }))] };
}

/** Removes stale scripts of ours that another tool has moved out of its way. */
function removeCopies({ files }: HookView, { site, moves }: HookPlan): HookMove[] {
  const written = new Set([site, ...moves.flatMap((move) => ("to" in move ? [move.to] : []))]);
  const copies = [...files.values()].filter(({ isOurs, name }) => isOurs && !written.has(name));
  return copies.map(({ name }) => ({ do: "remove", name }));
}

/** Returns the user's hook that our script calls; ignores a script of ours with that name. */
function keptOf({ files, hook }: HookView): HookFile | undefined {
  const kept = files.get(keptName(hook));
  return kept?.isOurs ? undefined : kept;
}

/** The name under which this hook calls the hook that it replaced: our script belongs there, not over the hook. */
function siteBelow({ hook, files }: HookView, caller: HookFile): string | null {
  const manager = managerOf(caller.content);
  if (manager?.callsKept === "never" || keepsInputToItself(manager, hook)) return null;
  if (manager?.callsKept === "always" && manager.keepsAs) return `${hook}${manager.keepsAs}`;
  const isKept = ({ name, isOurs, mode }: HookFile) =>
    !isOurs && name !== keptName(hook) && (mode & 0o111) !== 0 && calls(caller, name, hook);
  // A hook that wraps another one passes on git's arguments.
  return (/\$@/.test(caller.content) && [...files.values()].find(isKept)?.name) || null;
}

/** The name of a copy of `top` that `found`, which `top` calls, calls in turn. */
function copyBelow({ hook, files }: HookView, top: HookFile, found: HookFile): string | undefined {
  if (found.isOurs || covers(top, found) || keepsInputToItself(managerOf(found.content), hook)) return undefined;
  const isCopy = (file: HookFile) => file.identity === top.identity && calls(found, file.name, hook);
  return [...files.values()].find((file) => file !== top && file !== found && !file.isOurs && isCopy(file))?.name;
}

/** pre-commit passes standard input to the hook that it calls only for pre-push. */
function keepsInputToItself(manager: HookManager | null, hook: string): boolean {
  return manager?.callsKept === "always" && readsInput(hook) && hook !== "pre-push";
}

/**
 * Returns the user's hook that an earlier version dropped from the chain when it mistook a manager's hook for it. Only
 * a script of such a version proves that: a hook that is set aside now was replaced by its owner.
 */
function recoverable(view: HookView, top: HookFile, script: HookFile): SetAsideHook | undefined {
  if (hasGuard(script.content) || !callsEarlier(script.content)) return undefined;
  return view.setAside.find((hook) => !hook.isOurs && !covers(top, hook));
}
