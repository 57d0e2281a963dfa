/** The one action that is being confirmed, and the receipt of the last one. */
import type { ApplyAnswer, PlanAnswer, PlanRequest } from "../../protocol.ts";
import { createStore } from "../data/store.ts";

export const asked = createStore<PlanRequest | null>(null);

export interface Done {
  request: PlanRequest;
  plan: PlanAnswer;
  answer: Exclude<ApplyAnswer, { result: "stale" }>;
}

export const receipt = createStore<Done | null>(null);

/** Opens the dialog, which draws up the plan and asks. */
export function ask(request: PlanRequest): void {
  asked.set(request);
}
