/**
 * How tools write down their hooks: all below `{"hooks": {<event>: […]}}`, and what an event's list holds differs.
 * Each entry of ours has an element of its own, so that a user's element is never shared.
 */
import { emptyTable, entryOf, isTable, type Table, type Value } from "./value.ts";

export interface HookEntry {
  event: string;
  command: string;
  /** What the hook is called, where the tool wants a name. */
  name?: string | undefined;
  matcher?: string | undefined;
  /** Seconds. */
  timeout?: number | undefined;
}

export interface HookLayout {
  /** What the file must say beside the hooks; put in where it is missing. */
  fixed: Readonly<Record<string, Value>>;
  /** Our element of an event's list. */
  elementFor(entry: HookEntry): Table;
  /** The commands of an element, each with its path from there. */
  commandsIn(element: Value): { path: (string | number)[]; command: string }[];
  /** Whether an element with that many hooks of ours holds nothing else. */
  holdsOnly(element: Value, ours: number): boolean;
}

/** `{"matcher"?, "hooks": [{"type": "command", "command", "timeout"?}]}`, in seconds. */
export const claudeLayout: HookLayout = groups((entry) => ({ timeout: entry.timeout }));

/** The same with a name for each hook, and milliseconds. */
export const geminiLayout: HookLayout = groups((entry) => ({
  name: entry.name,
  timeout: entry.timeout === undefined ? undefined : entry.timeout * 1000,
}));

/** `{"command", "matcher"?, "timeout"?}` directly in the list, in a file that names its version. */
export const cursorLayout: HookLayout = {
  fixed: { version: 1 },
  elementFor: ({ command, matcher, timeout }) => tableOf({ command, matcher, timeout }),
  commandsIn(element) {
    const command = entryOf(element, "command");
    return typeof command === "string" ? [{ path: [], command }] : [];
  },
  holdsOnly: () => true,
};

function groups(more: (entry: HookEntry) => { name?: string | undefined; timeout: number | undefined }): HookLayout {
  return {
    fixed: {},
    elementFor(entry) {
      const { name, timeout } = more(entry);
      const hook = tableOf({ name, type: "command", command: entry.command, timeout });
      return tableOf({ matcher: entry.matcher, hooks: [hook] });
    },
    commandsIn(element) {
      const hooks = entryOf(element, "hooks");
      if (!Array.isArray(hooks)) return [];
      return hooks.flatMap((hook, index) => {
        const command = entryOf(hook, "command");
        return typeof command === "string" ? [{ path: ["hooks", index], command }] : [];
      });
    },
    holdsOnly(element, ours) {
      const hooks = entryOf(element, "hooks");
      if (!isTable(element) || !Array.isArray(hooks) || hooks.length !== ours) return false;
      return Object.keys(element).every((key) => key === "hooks" || key === "matcher");
    },
  };
}

function tableOf(entries: Record<string, Value | undefined>): Table {
  const table = emptyTable();
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) table[key] = value;
  return table;
}
