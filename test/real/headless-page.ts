/**
 * What an agent's page says for the story without a terminal, and what the model says in it: two turns, the second with
 * a command that changes much and, where the agent has such, a subagent.
 */
import { join } from "node:path";
import { type AgentDriver, type Heard, lookAt } from "./agent-driver.ts";
import type { Backtrail, LoggedStep, Restored } from "./backtrail.ts";
import type { WorkTree } from "./project.ts";
import type { Rig } from "./rig.ts";
import { type Block, reply, type Scenario, scenario } from "./server/scenario.ts";

export const TIMEOUT_MS = 180_000;
export const FIRST = "Say hello in a file [[first]]";
export const SECOND = "Now make it bigger [[second]]";
export const SUBTASK = "[[subtask]] Write helper.txt";
export const WHERE = "Where were we?";

type Chat = NonNullable<NonNullable<Restored["receipt"]>["chat"]>;
type Moment = "enabled" | "rewound" | "redone" | "sound" | "disabled";

export interface HeadlessPage {
  title?: string;
  /** Another name that it is enabled by. */
  alias?: string;
  model?: string;
  /** It prints nothing besides. */
  quiet?: true;
  /** What `enable` adds, in words, and what it must say about it. */
  adds: string;
  says?: string;
  /** The file that it adds to, a hook's name in there, and what its user had in it before, to the byte. */
  settings: { path: string; hook: string; users?: string };
  /** The hooks are in the user's own file, because the agent reads no other: its content before, to the byte. */
  userSettings?(rig: Rig): string;
  /** What `disable` takes away again, where the user had nothing. */
  made?: string;
  /** Whether src/app.txt may be named by its path in the project. */
  relative?: true;
  /** What the model is asked besides. */
  asides?: Scenario[];
  /**
   * How the model starts a subagent, waits for it, and says as the subagent that it is done. `alone`: what it says and uses is known to itself alone, and to the turn's sum.
   */
  subagent?: { begin(prompt: string): Block; wait?: Block; done?: Block; alone?: true };
  /** Every step of both turns, where it is not a start and an end of each. */
  recorded?: { kind: string; turn: number; prompt: string | null }[];
  /** The conversation is there when a turn begins, the first one too. */
  startsWithTranscript?: true;
  /** What a fork's first turn cost is not known. */
  forkCosts?: null;
  /** What the model is told of the first turn, between the prompt and the last word. */
  firstTurn: Heard[];
  /** The step before the second turn. */
  target?(story: Story): Promise<LoggedStep>;
  /** The agent's own file of the session. */
  transcript?(rig: Rig, session: string): string | Promise<string>;
  /** The command by which it is continued, and what a session's id looks like. */
  command(chat: Chat): string;
  sessionId?: RegExp;
  /** More words for the second prompt. */
  second?(rig: Rig, text: string, session: string): ReturnType<AgentDriver["turn"]>;
  tree?(rig: Rig): WorkTree;
  own?: Partial<Record<Moment, (story: Story) => void>>;
}

/** Where the story stands: an agent's own tests find everything here. */
export interface Story {
  rig: Rig;
  backtrail: Backtrail;
  session: string;
  beforeSecond: WorkTree;
  afterSecond: WorkTree;
}

/** What the model is sent of the first turn. */
export function firstTurn(page: HeadlessPage): Heard[] {
  return [`user: ${FIRST}`, ...page.firstTurn, "assistant: Hello is there."];
}

/** What the model says in both turns. */
export function scenarios(project: string, { tools }: AgentDriver, page: HeadlessPage): Scenario[] {
  const { write, edit, shell, read, together = (...uses: Block[]) => uses } = tools;
  const greeting = join(project, "greeting.txt");
  const app = page.relative ? "src/app.txt" : join(project, "src/app.txt");
  const { subagent } = page;
  return [
    ...(page.asides ?? []),
    scenario("first", [
      reply("I will write it.", write(greeting, "hello\n"), ...(read ? [read(app)] : [])),
      reply(
        "Two more things.",
        ...together(edit(app, "beta", "gamma"), shell("printf 'made by a command\\n' > made.txt")),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      ...lookAt(greeting, tools),
      reply("First the file.", edit(greeting, "hello", "HELLO")),
      reply("Now the rest.", shell(SECOND_COMMAND)),
      ...(subagent ? [reply("A subagent does the last part.", subagent.begin(SUBTASK))] : []),
      ...(subagent?.wait ? [reply(subagent.wait)] : []),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", write(join(project, "helper.txt"), "by the subagent\n")),
      reply(subagent?.done ?? "helper.txt is written."),
    ]),
  ];
}

const SECOND_COMMAND = [
  "printf 'changed by a command\\n' > src/app.txt",
  "mkdir -p deep/er && printf 'new\\n' > deep/er/file.txt",
  "rm doc.txt",
  "chmod +x run.sh",
  "printf 'written by a command\\n' > notes.log",
].join(" && ");

export function helperOf({ subagent }: HeadlessPage): string[] {
  return subagent ? ["helper.txt"] : [];
}

/** The directory that the agent's own files are in. */
export function directoryOf({ settings }: HeadlessPage): string {
  return settings.path.slice(0, settings.path.indexOf("/"));
}
