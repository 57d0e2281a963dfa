/** Whether the page came from a team's hub, which marks it: some screens are missing there, and nothing can be changed. */
export const isHub = typeof document !== "undefined" && document.documentElement.dataset["hub"] !== undefined;

/** Instead of the prompt of a turn that shows none. */
export const NO_PROMPT = isHub ? "(prompt not shared)" : "(no prompt recorded)";

/** The screens for which a hub has something to show. */
export const HUB_SCREENS: readonly string[] = ["", "turn", "session", "sessions", "search", "repositories", "activity"];

export const HUB_PLACES = [
  ["", "Timeline", ["", "turn"]],
  ["activity", "Activity", ["activity"]],
  ["sessions", "Sessions", ["sessions", "session"]],
  ["repositories", "Repositories", ["repositories"]],
] as const;
