/** What every screen may need: the repository, the names of agents, whether anything may be changed. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { State } from "../../protocol.ts";
import { EXPORTED_SCREENS } from "../data/exported.ts";
import { HUB_SCREENS } from "../data/hub.ts";

export const AppContext = createContext<State | null>(null);

export function useApp(): State {
  const state = useContext(AppContext);
  if (!state) throw new Error("The state is not loaded.");
  return state;
}

/** Whether a screen can be opened: an exported page has only some of them, and so has a hub's. */
export function useHas(): (screen: string) => boolean {
  const { exportedAt, team } = useApp();
  if (team) return (screen) => HUB_SCREENS.includes(screen);
  return (screen) => screen !== "activity" && (exportedAt === null || EXPORTED_SCREENS.includes(screen));
}
