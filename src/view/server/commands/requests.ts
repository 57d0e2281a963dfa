/** Checks the bodies of commands, which come from a browser and may be anything. */
import { UserError } from "../../../base/errors.ts";
import type { PlanRequest } from "../../protocol.ts";

type Body = Record<string, unknown>;

const MAX_TEXT = 1_000;
const MAX_TURNS = 500;
const MAX_PATHS = 500;

export function planRequest(body: Body): PlanRequest {
  switch (body["action"]) {
    case "rewind":
      return {
        action: "rewind",
        target: requiredText(body, "target"),
        side: oneOf(body, "side", ["before", "after", "exact"] as const),
        codeOnly: body["codeOnly"] === true,
        chatOnly: body["chatOnly"] === true,
        ...(body["paths"] === undefined ? {} : { paths: texts(body, "paths", MAX_PATHS) }),
        ...telling(body),
      };
    case "undo":
      return {
        action: "undo",
        turns: texts(body, "turns", MAX_TURNS),
        markers: body["markers"] === true,
        ...telling(body),
      };
    case "redo":
      return { action: "redo", markers: body["markers"] === true };
    case "fork": {
      const branch = optionalText(body, "branch");
      return { action: "fork", target: requiredText(body, "target"), ...(branch === null ? {} : { branch }) };
    }
    case "save":
      return { action: "save", name: optionalText(body, "name")?.trim() || null };
    case "resume":
      return { action: "resume", session: requiredText(body, "session") };
    case "proposal":
      return { action: "proposal", proposal: requiredText(body, "proposal") };
    default:
      throw new UserError("usage", "This action is not known.");
  }
}

/** Whether the agent learns what was undone; a reason needs this. */
function telling(body: Body): { tellAgent?: boolean; reason?: string } {
  if (body["tellAgent"] !== true) return {};
  const reason = optionalText(body, "reason")?.trim();
  return { tellAgent: true, ...(reason ? { reason } : {}) };
}

export function requiredText(body: Body, name: string): string {
  const value = optionalText(body, name);
  if (value !== null) return value;
  throw new UserError("usage", `"${name}" is missing.`);
}

function optionalText(body: Body, name: string): string | null {
  const value = body[name];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string" && value.length <= MAX_TEXT && !/[\0\n]/.test(value)) return value;
  throw new UserError("usage", `"${name}" is too long or not text.`);
}

function texts(body: Body, name: string, most: number): string[] {
  const value = body[name];
  const isList = Array.isArray(value) && value.length > 0 && value.length <= most;
  if (isList && value.every((one) => typeof one === "string" && one !== "" && one.length <= 4 * MAX_TEXT)) return value;
  throw new UserError("usage", `"${name}" is not a list of texts.`);
}

function oneOf<const Value extends string>(body: Body, name: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === body[name]);
  if (found !== undefined) return found;
  throw new UserError("usage", `"${name}" must be one of ${values.join(", ")}.`);
}
