/** `team live`: prints turns of the team as they begin and end, until interrupted. */

import { now } from "../../../base/clock.ts";
import { oneLine, plural, shorten } from "../../../base/text.ts";
import type { VisibleTurn } from "../../../team/protocol.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { clockTime } from "../../render/layout/time.ts";
import { interruptible } from "../../shared/sync.ts";
import { ask } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonLine } from "../../terminal/json.ts";
import type { teamLiveCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamLiveCommand>;

export async function run({ json }: Options, io: Io): Promise<undefined> {
  await interruptible((signal) =>
    ask(async (hub) => {
      try {
        for await (const turn of hub.live(signal))
          if (json) io.out.write(jsonLine(turn));
          else io.print(lineOf(turn));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }),
  );
}

function lineOf({ person, agent, repository, startedAt, endedAt, fileCount, prompt, status }: VisibleTurn): string {
  const who = `${oneLine(person ?? "somebody")}  ${oneLine(agent)}  ${oneLine(repository)}`;
  const what = endedAt === null ? "at work" : status === "kept" ? plural(fileCount, "file") : status;
  const said = prompt === null ? "" : `  ${shorten(oneLine(prompt), 80)}`;
  return `${clockTime(endedAt ?? startedAt, now())}  ${who}  ${what}${said}`;
}
