/** `sync status`: compares local and remote checkpoints as last known, and reports failures and the next attempt. */

import { now } from "../../../base/clock.ts";
import { oneLine, plural } from "../../../base/text.ts";
import { type SyncStatus, syncStatus } from "../../../checkpoints/sync/sync.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { age, until } from "../../render/layout/time.ts";
import { labeled } from "../../render/line-origin.ts";
import { shownName, syncPlace } from "../../shared/sync.ts";
import type { Io } from "../../terminal/io.ts";
import type { syncStatusCommand } from "./commands.ts";

type Options = OptionsOf<typeof syncStatusCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, remote, isChosen, ...place } = await syncPlace(io, options.remote, { mustChoose: false });
  const enabled = place.enabled && isChosen;
  const found = await syncStatus(workspace, remote);
  const status = isChosen ? found : { ...found, waiting: null };
  const { here, unpushed, state, waiting } = status;
  if (options.json) {
    const { pushed = null, fetched = null, error = null, next = null } = state ?? {};
    const wanted = waiting?.time ?? null;
    io.json({ remote: remote.name, enabled, here, unpushed, pushed, fetched, waiting: wanted, error, next });
    return;
  }
  const { paint } = io.out;
  const name = shownName(remote);
  io.printMessage(`${plural(here, "checkpoint")} here; ${thereText(status, name)}.`);
  const lines = [
    ...labeled("pushed", state?.pushed ? age(state.pushed, now()) : null, paint),
    ...labeled("fetched", state?.fetched ? age(state.fetched, now()) : null, paint),
    ...labeled(
      "failed",
      state?.error ? `${age(state.error.time, now())}: ${oneLine(state.error.message)}` : null,
      paint,
    ),
    ...labeled("waiting", waiting ? waitingText(status) : null, paint),
  ];
  for (const line of lines) io.print(line);
  io.say(
    enabled
      ? `They are pushed to ${name} in the background whenever you push.`
      : "Nothing is pushed automatically. Turn this on with `backtrail config set push.enabled true`.",
  );
}

function thereText({ unpushed }: SyncStatus, name: string): string {
  if (unpushed === null) return `${name} was not checked yet`;
  return unpushed.length === 0 ? `${name} had them all` : `${name} lacked ${unpushed.length}`;
}

function waitingText({ state }: SyncStatus): string {
  const next = state?.error && state.next ? until(state.next, now()) : null;
  return next === null ? "a push is in progress or waiting" : `tried again ${next}, or when you push`;
}
