/** The parts of a tool, and how its call becomes an answer. */
import type * as z from "zod/v4";
import { codeOf, messageOf, UserError } from "../base/errors.ts";
import { logError } from "../base/log.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";

export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  annotations: Annotations;
  /** Returns the text for the model, and perhaps a question to the person. */
  answer(input: z.output<Input>, context: Context): Promise<string | Pick<Answer, "text" | "question">>;
}

/** Decisions that the user may make through the client. */
export interface Question {
  /** What the person reads. */
  message: string;
  /** Does what the person agreed to, and returns the text for the model. */
  accept(): Promise<string>;
}

/** Reads the record, and nothing outside of this machine. */
export const READS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Adds to the record; changes no file of the user. */
export const ADDS: Annotations = { ...READS, readOnlyHint: false };

export function tool<Input extends z.ZodObject>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

export interface Answer {
  text: string;
  isError: boolean;
  /** Asked only if the client can. */
  question?: Question;
}

const MAX_ERROR = 1_000;

/** Answers one call. An error is an answer as well, so that the model can correct itself. */
export async function call(tool: Tool, input: unknown, context: Context, limits: Limits): Promise<Answer> {
  try {
    const work = () => tool.answer(checked(tool, input), context);
    const answer = await limits.run(!tool.annotations.readOnlyHint, work);
    return { ...(typeof answer === "string" ? { text: answer } : answer), isError: false };
  } catch (error) {
    return failure(tool.name, error);
  }
}

/** What went wrong, for the model. */
export function failure(name: string, error: unknown): Answer {
  return { text: shorten(errorText(name, error), MAX_ERROR), isError: true };
}

function checked(tool: Tool, input: unknown): Record<string, unknown> {
  const { data, error } = tool.input.safeParse(input);
  if (data) return data;
  const [issue] = error?.issues ?? [];
  const where = issue?.path.join(".") ?? "";
  throw new UserError("usage", `The input is wrong${where ? ` at ${oneLine(where)}` : ""}: ${issue?.message ?? ""}.`);
}

function errorText(name: string, error: unknown): string {
  if (error instanceof UserError) return [error.message, error.hint ?? ""].join(" ").trim();
  logError(`mcp ${name}`, error);
  const system = codeOf(error) === undefined ? "" : ` (${oneLine(messageOf(error))})`;
  return `Backtrail failed${system}. \`backtrail doctor\` may say more.`;
}
