/** When a step is taken: rules over canonical events and kinds of tools. Agents know nothing of them. */
import type { EventType, ToolKind } from "../agents/event.ts";

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
  /** Asked only where a rule depends on it. */
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

/** One that is built in, or described by the user. */
export function isTier(name: string, own: Record<string, unknown>): boolean {
  return TIER_NAMES.includes(name) || (Object.hasOwn(own, name) && readRules(own[name]) !== undefined);
}

/** The user's own tier of that name, else a built-in one, else balanced. */
export function tierRules(name: string, own: Record<string, unknown>): readonly TierRule[] {
  const described = Object.hasOwn(own, name) ? readRules(own[name]) : undefined;
  return described ?? (Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined) ?? BALANCED;
}

const EVENTS: readonly EventType[] = [
  "SessionStart",
  "TurnStart",
  "TurnEnd",
  "Compaction",
  "SessionEnd",
  "SubagentStart",
  "SubagentEnd",
  "ToolStart",
  "ToolEnd",
];

/** `{"rules": [{"on": "ToolEnd", "tools": ["write"], "min_interval": 30}]}`; a rule that makes no sense is left out. */
export function readRules(value: unknown): TierRule[] | undefined {
  if (typeof value !== "object" || value === null || !("rules" in value) || !Array.isArray(value.rules))
    return undefined;
  return value.rules.flatMap((rule: unknown): TierRule[] => {
    if (typeof rule !== "object" || rule === null || !("on" in rule)) return [];
    const on = EVENTS.find((event) => event === rule.on);
    if (!on) return [];
    const read: TierRule = { on };
    if ("tools" in rule && Array.isArray(rule.tools)) read.tools = rule.tools as ToolKind[];
    if ("destructive" in rule && rule.destructive === true) read.destructive = true;
    if ("min_interval" in rule && typeof rule.min_interval === "number") read.minInterval = rule.min_interval;
    return [read];
  });
}
