/** The repository of an answer that is about none of this machine: nothing is known of it but its name. */
import type { Repository } from "../../protocol.ts";

export const NO_REPOSITORY: Repository = {
  id: "",
  name: "",
  root: "",
  kind: "git",
  branch: null,
  working: 0,
  waiting: 0,
  pending: 0,
  lastTurn: null,
};
