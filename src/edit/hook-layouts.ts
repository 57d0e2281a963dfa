/**
 * The hook layouts of the supported tools. All use `{"hooks": {<event>: […]}}`, some with another name in the place of
 * `hooks`, but the elements of an event's list differ. Each of our entries gets its own element, so that we never share
 * one with the user.
 */
import { emptyTable, entryOf, isTable, type Table, type Value } from "./value.ts";

export interface HookEntry {
  event: string;
  command: string;
  /** The hook's name, for tools that require one. */
  name?: string | undefined;
  matcher?: string | undefined;
  /** Seconds. */
  timeout?: number | undefined;
}

export interface HookLayout {
  /** The key of the table with our events. */
  at: string;
  /** Top-level keys that the file requires besides the hooks; added if missing. */
  fixed: Readonly<Record<string, Value>>;
  /** Returns our element for an event's list. */
  elementFor(entry: HookEntry): Table;
  /** Returns the commands of an element, each with its path relative to the element. */
  commandsIn(element: Value): { path: (string | number)[]; command: string }[];
  /** True if the element contains nothing but `ours` hooks of ours. */
  holdsOnly(element: Value, ours: number): boolean;
}

/** `{"matcher"?, "hooks": [{"type": "command", "command", "timeout"?}]}`, with the timeout in seconds. */
export const claudeLayout: HookLayout = groups((entry) => ({ timeout: entry.timeout }));

/** Like `claudeLayout`, but each hook has a name, and the timeout is in milliseconds. */
export const geminiLayout: HookLayout = groups((entry) => ({
  name: entry.name,
  timeout: entry.timeout === undefined ? undefined : entry.timeout * 1000,
}));

/** `{"command", "matcher"?, "timeout"?}` directly in the event's list; the file has a top-level version. */
export const cursorLayout: HookLayout = {
  at: "hooks",
  fixed: { version: 1 },
  elementFor: ({ command, matcher, timeout }) => tableOf({ command, matcher, timeout }),
  commandsIn(element) {
    const command = entryOf(element, "command");
    return typeof command === "string" ? [{ path: [], command }] : [];
  },
  holdsOnly: () => true,
};

/**
 * `{"backtrail": {<event>: […]}}`: the hooks of each program are under its name. A hook with a matcher is in a group as
 * in `claudeLayout`; one without is `{"type": "command", "command", "timeout"?}` directly in the list.
 */
export const namedLayout: HookLayout = {
  at: "backtrail",
  fixed: {},
  elementFor: (entry) =>
    entry.matcher === undefined
      ? tableOf({ type: "command", command: entry.command, timeout: entry.timeout })
      : claudeLayout.elementFor(entry),
  commandsIn: (element) => [...cursorLayout.commandsIn(element), ...claudeLayout.commandsIn(element)],
  holdsOnly: (element, ours) => entryOf(element, "hooks") === undefined || claudeLayout.holdsOnly(element, ours),
};

function groups(more: (entry: HookEntry) => { name?: string | undefined; timeout: number | undefined }): HookLayout {
  return {
    at: "hooks",
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
