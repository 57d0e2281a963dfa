/** What every screen may need: the repository, the names of agents, whether anything may be changed. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { State } from "../../protocol.ts";
import { EXPORTED_SCREENS } from "../data/exported.ts";

export const AppContext = createContext<State | null>(null);

export function useApp(): State {
  const state = useContext(AppContext);
  if (!state) throw new Error("The state is not loaded.");
  return state;
}

/** Whether a screen can be opened: an exported page has only some of them. */
export function useHas(): (screen: string) => boolean {
  const { exportedAt } = useApp();
  return (screen) => exportedAt === null || EXPORTED_SCREENS.includes(screen);
}
