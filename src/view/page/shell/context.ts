/** What every screen may need: the repository, the names of agents, whether anything may be changed. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { State } from "../../protocol.ts";

export const AppContext = createContext<State | null>(null);

export function useApp(): State {
  const state = useContext(AppContext);
  if (!state) throw new Error("The state is not loaded.");
  return state;
}
