/** Our entries in the hooks of a settings file: detects them and computes the changes that add or remove them. */
import type { HookEntry, HookLayout } from "./hook-layouts.ts";
import { type Change, entryOf, isEqual, isTable, type Value } from "./value.ts";

type Recognizer = (command: string) => boolean;
export type Presence = "installed" | "absent" | "outdated";

export interface OurHooks {
  layout: HookLayout;
  entries: readonly HookEntry[];
  isOurs: Recognizer;
}

export function presenceOf(settings: Value | undefined, ours: OurHooks): Presence {
  const found = [...oursIn(settings, ours)];
  if (found.length === 0) return "absent";
  const wanted = [...ours.entries];
  for (const { event, element } of found) {
    const index = wanted.findIndex((entry) => entry.event === event && isEqual(ours.layout.elementFor(entry), element));
    if (index < 0) return "outdated";
    wanted.splice(index, 1);
  }
  return wanted.length === 0 ? "installed" : "outdated";
}

export function additionsOf({ layout, entries }: OurHooks): Change[] {
  const fixed = Object.entries(layout.fixed).map(([key, value]): Change => ({ do: "provide", key, value }));
  const added = entries.map(
    (entry): Change => ({ do: "append", path: [layout.at, entry.event], value: layout.elementFor(entry) }),
  );
  return [...fixed, ...added];
}

/** Returns the changes that remove our entries, and whole elements that contain nothing else. */
export function removalsOf(settings: Value | undefined, ours: OurHooks): Change[] {
  const hooks = entryOf(settings, ours.layout.at);
  if (!isTable(hooks)) return [];
  return Object.keys(hooks).flatMap((event) => removalsOfEvent(event, hooks[event], ours));
}

/**
 * Returns the containers of our entries that did not exist in `before`, the settings before our edit. Inner
 * containers come first, because an outer one can only become empty after them.
 */
export function containersOf(
  settings: Value | undefined,
  ours: OurHooks,
  before: Value | undefined,
): [events: string[][], hooks: string[][]] {
  const events = new Set([...oursIn(settings, ours)].map(({ event }) => event));
  const { at } = ours.layout;
  const hooksBefore = entryOf(before, at);
  const made = [...events].filter((event) => !Array.isArray(entryOf(hooksBefore, event)));
  return [made.map((event) => [at, event]), isTable(hooksBefore) ? [] : [[at]]];
}

/** Returns the removals of fixed keys that we added and that are useless without the hooks. */
export function leftoversOf(settings: Value | undefined, { layout }: OurHooks, before: Value | undefined): Change[] {
  if (!isTable(settings) || !isEqual(settings[layout.at], entryOf(before, layout.at))) return [];
  const provided = Object.keys(layout.fixed).filter((key) => isEqual(settings[key], layout.fixed[key]));
  const isAlone = Object.keys(settings).length === provided.length;
  return provided
    .filter((key) => (before === undefined ? isAlone : entryOf(before, key) === undefined))
    .map((key) => ({ do: "remove", path: [key] }));
}

function removalsOfEvent(event: string, list: Value | undefined, { layout, isOurs }: OurHooks): Change[] {
  if (!Array.isArray(list)) return [];
  const changes: Change[] = [];
  // Go backward, so that a removal does not shift the remaining indexes.
  for (const [index, element] of [...list.entries()].reverse()) {
    const ours = layout.commandsIn(element).filter(({ command }) => isOurs(command));
    if (ours.length === 0) continue;
    const path = [layout.at, event, index];
    if (layout.holdsOnly(element, ours.length)) changes.push({ do: "remove", path });
    else for (const { path: within } of ours.reverse()) changes.push({ do: "remove", path: [...path, ...within] });
  }
  return changes;
}

/** Yields each of our hooks, with its event and the element that contains it. */
function* oursIn(
  settings: Value | undefined,
  { layout, isOurs }: OurHooks,
): Generator<{ event: string; element: Value }> {
  const hooks = entryOf(settings, layout.at);
  if (!isTable(hooks)) return;
  for (const event of Object.keys(hooks)) {
    const list = hooks[event];
    if (!Array.isArray(list)) continue;
    for (const element of list) {
      for (const { command } of layout.commandsIn(element)) if (isOurs(command)) yield { event, element };
    }
  }
}
