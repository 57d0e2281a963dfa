/**
 * `agent-protocol <agent> <subcommand> [flags]`: serves one of our agents to another host. The protocol defines the
 * flags, so they bypass the command table.
 */
import { basename } from "node:path";
import { agentNameOf } from "../../../agents/external/protocol.ts";
import { serve } from "../../../agents/external/serve.ts";
import type { Program } from "../../../agents/hooks/command.ts";
import { PACKAGED } from "../../../agents/registry/packaged.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { messageOf, UserError } from "../../../base/errors.ts";
import { oneLine, printable, shorten } from "../../../base/text.ts";
import { agentsFound } from "../../../setup/enable.ts";
import { installWords } from "../../render/words/index.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { EXIT, exitCodeOf } from "../../terminal/exit.ts";
import { jsonLine } from "../../terminal/json.ts";

const MAX_INPUT_BYTES = 1 << 30;

/** Selects the agent by the name under which the executable was called, such as `entire-agent-gemini`. */
export function serveAs(program: string, argv: readonly string[]): Promise<number> {
  const name = basename(program);
  return answer(agentNameOf(name) ?? "", argv, name.startsWith("entire-") ? "entire" : undefined);
}

/** `argv` holds the words after `agent-protocol`. */
export function serveNamed(argv: readonly string[]): Promise<number> {
  return answer(argv[0] ?? "", argv.slice(1), undefined);
}

async function answer(id: string, argv: readonly string[], host: Program | undefined): Promise<number> {
  installWords();
  try {
    const agent = Object.hasOwn(PACKAGED, id) ? await getAgent(id) : undefined;
    if (!agent) {
      const known = Object.keys(PACKAGED).join(", ");
      throw new UserError("usage", `There is no agent "${shorten(oneLine(id), 60)}" to serve. There are: ${known}.`);
    }
    const root = process.env["ENTIRE_REPO_ROOT"] || process.cwd();
    const said = await serve(argv[0], {
      agent,
      flags: flagsIn(argv.slice(1)),
      input: readInput,
      root,
      executable: ownExecutable,
      host,
      isPresent: async () => (await agentsFound(root)).some((found) => found.agent.profile.id === id),
    });
    await print(said);
    return EXIT.done;
  } catch (error) {
    process.stderr.write(`${printable(messageOf(error))}\n`);
    return exitCodeOf(error);
  }
}

/** `--name value`, `--name=value`, or a bare `--name`. */
function flagsIn(argv: readonly string[]): Map<string, string | true> {
  const flags = new Map<string, string | true>();
  for (let at = 0; at < argv.length; at++) {
    const [, name, value] = /^--([a-z][a-z-]*)(?:=([\s\S]*))?$/.exec(argv[at] ?? "") ?? [];
    if (name === undefined) throw new UserError("usage", `"${shorten(oneLine(argv[at] ?? ""), 60)}" is not a flag.`);
    if (value !== undefined || name === "force" || name === "local-dev") flags.set(name, value ?? true);
    else flags.set(name, argv[++at] ?? true);
  }
  return flags;
}

async function readInput(): Promise<Buffer> {
  if (process.stdin.isTTY) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_INPUT_BYTES) throw new UserError("refused", "Standard input is larger than 1 GiB.");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Waits until the reader has received everything, because the process exits right after. */
async function print(said: unknown): Promise<void> {
  if (said === undefined) return;
  const bytes = said instanceof Uint8Array ? said : jsonLine(said);
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
