/** What an agent's page says for the story in a terminal, and what the model says in it. */
import { join } from "node:path";
import type { AgentDriver, Heard, Tools } from "./agent-driver.ts";
import type { Backtrail, LoggedStep } from "./backtrail.ts";
import type { WorkTree } from "./project.ts";
import type { Rig } from "./rig.ts";
import { type Reply, reply, type Scenario, scenario, stalling } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

export const TIMEOUT_MS = 180_000;
export const FIRST = "Say hello in a file [[first]]";
export const SECOND = "Now make it bigger [[second]]";
export const BROKEN = "Think about it [[broken]]";
export const AFTERWARDS = "Are you there";
export const LEFT = "What is left";
export const HALF = "I am still thinking about the other half";

type Moment = "second" | "broken" | "rewound" | "redone";

export interface TerminalPage {
  /** What `enable` makes, and `disable` takes away. */
  made: string;
  /** What the agent itself has added to that file, which is left there. */
  leaves?: string;
  /** The agent by a command that a person types or copies, ready for a prompt. */
  open(rig: Rig, command?: string): Promise<Terminal>;
  leave(terminal: Terminal): Promise<void>;
  say?(terminal: Terminal, line: string): Promise<void>;
  /** Breaks off what it is doing. */
  stop(terminal: Terminal): Promise<void>;
  /** Where its user is asked something at the first start: what the test is called then, and how it is answered. */
  first?: { title: string; open(rig: Rig): Promise<Terminal> };
  /** How the answer to a prompt of no scenario looks, where it is not said in one line. */
  echo?(prompt: string): RegExp;
  /** What its user sees of Backtrail. */
  shows?: string;
  /** Other tools than without a terminal, and what the model is asked besides. */
  tools?: Tools;
  model?: string;
  asides?: Scenario[];
  /** A subagent in the background: how it is started, and what is said when it is done. */
  background?: { begin: Reply; done: Reply; subtask(project: string): Scenario };
  /** A turn that is broken off has an end at once; otherwise the next prompt closes it. */
  endsAtOnce?: true;
  /** What it had said by then is known. */
  keepsHalf?: true;
  /** Between the turn that was broken off and the next. */
  between?(terminal: Terminal): Promise<void>;
  compaction?: { command: string; done: string | RegExp };
  /** What the model is told of the first turn, between the prompt and the last word. */
  firstTurn: Heard[];
  /** The conversation that the model was sent last, of this session. */
  heard?(rig: Rig, session: string): string[];
  /** The end of the turn that was broken off is a place to go to. */
  middle?: true;
  own?: Partial<Record<Moment, (story: TerminalStory) => void>>;
}

/** Where the story stands: an agent's own tests find everything here. */
export interface TerminalStory {
  rig: Rig;
  backtrail: Backtrail;
  terminal: Terminal;
  beforeSecond: WorkTree;
  atTheEnd: WorkTree;
  turnEnd(prompt: string): Promise<LoggedStep>;
  /** What the model hears once the command that the rewind shows is typed and the agent is asked. */
  afterRewind(step: LoggedStep, prompt: string): Promise<string[]>;
}

export function scenarios(project: string, driver: AgentDriver, page: TerminalPage): Scenario[] {
  const { write, edit, shell } = page.tools ?? driver.tools;
  const at = (path: string) => join(project, path);
  const { background } = page;
  return [
    ...(page.asides ?? []),
    scenario("first", [
      reply("I will write it.", write(at("greeting.txt"), "hello\n"), shell("printf 'made\\n' > made.txt")),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply("First the file.", edit(at("greeting.txt"), "hello", "HELLO")),
      reply("Now the rest.", shell("rm doc.txt && printf 'written by a command\\n' > notes.log")),
      ...(background ? [background.begin] : []),
      reply("It is bigger."),
      ...(background ? [background.done] : []),
    ]),
    ...(background ? [background.subtask(project)] : []),
    scenario("broken", [reply("Half of it.", write(at("half.txt"), "half\n")), stalling(reply(HALF))]),
  ];
}
