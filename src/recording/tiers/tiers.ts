/** Decides when to take a step, by rules over canonical events and tool kinds. Agents do not know these rules. */
import { EVENT_TYPES, type EventType, type ToolKind } from "../../model/event.ts";

export interface TierRule {
  on: EventType;
  /** Only for these kinds of tools. */
  tools?: readonly ToolKind[];
  /** Only before a shell command that can destroy work. */
  destructive?: boolean;
  /** Not if a step was taken less than this many seconds ago. */
  minInterval?: number;
}

const BALANCED: readonly TierRule[] = [
  { on: "TurnStart" },
  { on: "TurnEnd" },
  { on: "Compaction" },
  { on: "SubagentStart" },
  { on: "SubagentEnd" },
  { on: "ToolEnd", tools: ["todo"] },
  { on: "ToolStart", tools: ["shell"], destructive: true },
];

const BUILT_IN: Record<string, readonly TierRule[]> = {
  minimal: [{ on: "SessionStart" }, { on: "TurnEnd" }],
  balanced: BALANCED,
  aggressive: [...BALANCED, { on: "ToolEnd", tools: ["write", "shell"] }],
};

export const TIER_NAMES = Object.keys(BUILT_IN);

export interface TierQuestion {
  event: EventType;
  tool: ToolKind | null;
  /** Called only if a rule depends on the result. */
  isDestructive: () => boolean;
  secondsSinceLastStep: number;
}

export function takesStep(rules: readonly TierRule[], question: TierQuestion): boolean {
  return rules.some((rule) => {
    if (rule.on !== question.event) return false;
    if (rule.tools && (question.tool === null || !rule.tools.includes(question.tool))) return false;
    if (rule.minInterval !== undefined && question.secondsSinceLastStep < rule.minInterval) return false;
    return !rule.destructive || question.isDestructive();
  });
}

/** Whether a built-in or user-defined tier has this name. */
export function isTier(name: string, own: Record<string, unknown>): boolean {
  return TIER_NAMES.includes(name) || (Object.hasOwn(own, name) && readRules(own[name]) !== undefined);
}

/** The user's tier of that name, or the built-in tier, or `balanced`. */
export function tierRules(name: string, own: Record<string, unknown>): readonly TierRule[] {
  const described = Object.hasOwn(own, name) ? readRules(own[name]) : undefined;
  return described ?? (Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined) ?? BALANCED;
}

/** `{"rules": [{"on": "ToolEnd", "tools": ["write"], "min_interval": 30}]}`; invalid rules are skipped. */
export function readRules(value: unknown): TierRule[] | undefined {
  if (typeof value !== "object" || value === null || !("rules" in value) || !Array.isArray(value.rules))
    return undefined;
  return value.rules.flatMap((rule: unknown): TierRule[] => {
    if (typeof rule !== "object" || rule === null || !("on" in rule)) return [];
    const on = EVENT_TYPES.find((event) => event === rule.on);
    if (!on) return [];
    const read: TierRule = { on };
    if ("tools" in rule && Array.isArray(rule.tools)) read.tools = rule.tools as ToolKind[];
    if ("destructive" in rule && rule.destructive === true) read.destructive = true;
    if ("min_interval" in rule && typeof rule.min_interval === "number") read.minInterval = rule.min_interval;
    return [read];
  });
}
