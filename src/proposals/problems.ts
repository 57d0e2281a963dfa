/** Why a proposal can't be made or decided on, as data. cli/render/words/proposals.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type ProposalProblem =
  | { kind: "proposal-unknown"; id: string }
  | { kind: "proposal-ambiguous"; id: string }
  | { kind: "proposal-closed"; id: string; state: "applied" | "dismissed" | "expired" }
  | { kind: "proposal-without-reason" }
  | { kind: "too-many-proposals"; open: number }
  /** Later turns changed the same lines; `more`: other files. */
  | { kind: "proposal-in-conflict"; path: string; more: number }
  | { kind: "proposal-changes-nothing"; isUndo: boolean };

export class ProposalError extends ProblemError<ProposalProblem> {}
