/** Whether the page came from a team's hub, which marks it: some screens are missing there, and nothing can be changed. */
export const isHub = typeof document !== "undefined" && document.documentElement.dataset["hub"] !== undefined;

/** The screens for which a hub has something to show. */
export const HUB_SCREENS: readonly string[] = ["", "turn", "session", "sessions", "search", "repositories", "activity"];

export const HUB_PLACES = [
  ["", "Timeline", ["", "turn"]],
  ["activity", "Activity", ["activity"]],
  ["sessions", "Sessions", ["sessions", "session"]],
  ["repositories", "Repositories", ["repositories"]],
] as const;
