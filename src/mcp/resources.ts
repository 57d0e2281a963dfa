/**
 * Resources: a session and a turn, for clients that let a person attach them. Like the answers of tools they are
 * redacted, quoted and bounded.
 */
import { UserError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { moment, named, QUOTED_NOTE } from "./answer.ts";
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import { INVALID_PARAMS, NOT_FOUND, ProtocolError } from "./message.ts";
import { failure } from "./tool.ts";
import { sessionBlocks, turnLines } from "./tools/turns.ts";

/** In bytes. */
export const MAX_RESOURCE = 16_384;
/** Room for the last line, which says that there is more. */
const LAST_LINE = 200;
const MAX_LISTED = 50;
const MAX_TURNS = 100;
const TYPE = "text/plain";

export const TEMPLATES = [
  {
    name: "session",
    uriTemplate: "backtrail://session/{id}",
    title: "A recorded session",
    description: "The turns of one session, newest first: prompts, changed files, answers, and what became of each.",
    mimeType: TYPE,
  },
  {
    name: "turn",
    uriTemplate: "backtrail://turn/{id}",
    title: "A recorded turn",
    description: "One turn: prompt, answer, changed files, check result, the states before and after it.",
    mimeType: TYPE,
  },
];

type Resource = { uri: string; name: string; title: string; mimeType: string };

/** The newest sessions. Where nothing is recorded there are none. */
export async function listResources(context: Context, limits: Limits): Promise<{ resources: Resource[] }> {
  const work = async () => {
    const { listTurns } = await import("../api/turns.ts");
    const sessions = new Map<string, Resource>();
    for (const { session, agent, number, endedAt, startedAt } of listTurns(context.read())) {
      const uri = `backtrail://session/${encodeURIComponent(session)}`;
      if (sessions.has(uri)) continue;
      if (sessions.size >= MAX_LISTED) break;
      const time = endedAt ?? startedAt;
      const title = `${named(agent)}, ${plural(number, "turn")}${time === null ? "" : `, ${moment(time)}`}`;
      sessions.set(uri, { uri, name: named(session), title, mimeType: TYPE });
    }
    return { resources: [...sessions.values()] };
  };
  try {
    return await limits.run(false, work);
  } catch (error) {
    if (error instanceof UserError && error.kind === "not-found") return { resources: [] };
    throw protocolError("resources", error);
  }
}

export type Contents = { contents: { uri: string; mimeType: string; text: string }[] };

export async function readResource(uri: unknown, context: Context, limits: Limits): Promise<Contents> {
  const [, kind, id = ""] = /^backtrail:\/\/(session|turn)\/([\w.:@%-]{1,300})$/.exec(String(uri)) ?? [];
  if (typeof uri !== "string" || kind === undefined) throw new ProtocolError(NOT_FOUND, "There is no such resource.");
  try {
    const work = () => (kind === "turn" ? turnText(decoded(id), context) : sessionText(decoded(id), context));
    return { contents: [{ uri, mimeType: TYPE, text: await limits.run(false, work) }] };
  } catch (error) {
    throw protocolError("resource", error);
  }
}

async function turnText(id: string, context: Context): Promise<string> {
  return fitted(await turnLines(id, context), `The tool \`turn\` has the rest.`);
}

async function sessionText(id: string, context: Context): Promise<string> {
  const { listTurns } = await import("../api/turns.ts");
  const turns = listTurns(context.read(), { session: id, limit: MAX_TURNS });
  const [newest] = turns;
  const head = newest ? `${named(newest.agent)} session ${named(newest.session)}` : `session ${named(id)}`;
  const blocks = await sessionBlocks(turns, context);
  return fitted([`${head}, newest turn first. ${QUOTED_NOTE}`, ...blocks.flat()], "The tool `turns` lists more.");
}

/** As many lines as fit. */
function fitted(lines: readonly string[], rest: string): string {
  const shown: string[] = [];
  let left = MAX_RESOURCE - LAST_LINE;
  for (const line of lines) {
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) return [...shown, `The text is cut here. ${rest}`].join("\n");
    shown.push(line);
  }
  return shown.join("\n");
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new ProtocolError(INVALID_PARAMS, "The resource's address is not valid.");
  }
}

function protocolError(what: string, error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const code = error instanceof UserError && error.kind === "not-found" ? NOT_FOUND : INVALID_PARAMS;
  return new ProtocolError(code, failure(what, error).text);
}
