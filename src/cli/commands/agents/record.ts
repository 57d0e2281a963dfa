/** `agents record <id>`: records what an agent sends and writes while the user works with it. */
import { basename, dirname, extname, resolve } from "node:path";
import { eventOfName, readRecording } from "../../../agents/authoring/capture/format.ts";
import { COMMON_EVENTS, HOOK_KEYS } from "../../../agents/authoring/capture/hook-formats.ts";
import { type HookRequest, recordingCommand } from "../../../agents/authoring/capture/hooks.ts";
import { endRecording, type Started, startRecording } from "../../../agents/authoring/capture/record.ts";
import { UserError } from "../../../base/errors.ts";
import { homeDirectory } from "../../../base/paths.ts";
import { plural, printable } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { ownExecutable } from "../../shared/executable.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsRecordCommand } from "./commands.ts";

const LOOK_EVERY_MS = 1_000;

type Options = OptionsOf<typeof agentsRecordCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { id } = options;
  if (options.stop) return stop(id, io, options.json === true);
  const hooks = hookRequest(options, io.cwd);
  const events = options.events === undefined ? COMMON_EVENTS : namesIn(options.events);
  const executable = ownExecutable();
  const watched = (options.watch ?? []).map((directory) => resolve(io.cwd, directory));
  const started = await startRecording({ id, home: homeDirectory(), cwd: io.cwd, watched, hooks, executable });
  io.say(`Recording ${id} into ${placeOf(started.directory, null)}`);
  if (hooks) io.say(`Its hooks are in ${placeOf(hooks.file, null)} until the recording ends.`);
  else {
    io.say("");
    io.say(`If ${id} has hooks, install these commands as hooks (or use --hooks <file>):`);
    for (const event of events) io.print(`  ${recordingCommand(executable, id, event)}`);
    io.say("The last word is the event's name: replace it by the agent's name for the event.");
  }
  io.say("");
  io.say(`Now start ${id} in this directory, and`);
  io.say("  1. ask it to write a file and to run a command,");
  io.say("  2. send a second prompt,");
  io.say("  3. exit, continue the same session, and send a third prompt.");
  io.say(`Then press Ctrl-C here, or run: backtrail agents record ${id} --stop`);
  await watchUntilStopped(started, io);
  await stop(id, io, options.json === true, started.directory);
}

/** Looks at the files until a signal, or until another process ends the recording. */
async function watchUntilStopped(started: Started, io: Io): Promise<void> {
  let end = () => {};
  const stopped = new Promise<void>((resolve) => {
    end = resolve;
  });
  process.once("SIGINT", end).once("SIGTERM", end).once("SIGHUP", end);
  const shown = new Set<string>();
  const timer = setInterval(() => {
    for (const path of started.look()) {
      if (!shown.has(path)) io.say(`  it writes ${placeOf(path, null)}`);
      shown.add(path);
    }
    if (!started.isActive()) end();
  }, LOOK_EVERY_MS);
  await stopped;
  clearInterval(timer);
}

async function stop(id: string, io: Io, isJson: boolean, known?: string): Promise<undefined> {
  const ended = await endRecording(id);
  if (ended === null && known === undefined) {
    throw new UserError(
      "not-found",
      `No recording of ${id} is in progress.`,
      `Start one: backtrail agents record ${id}`,
    );
  }
  // Another process ended the recording and told the user.
  if (ended === null) return;
  const { payloads, transcripts, hooks } = readRecording(ended);
  const events = [...new Set(payloads.map(({ event, file }) => event || eventOfName(file)))];
  if (isJson) {
    io.json({ directory: ended, payloads: payloads.length, events, files: transcripts.map(({ path }) => path) });
    return;
  }
  io.say("");
  io.say(`Recorded ${plural(payloads.length, "hook call")} and ${plural(transcripts.length, "file")}.`);
  if (events.length > 0) io.say(`Events: ${events.map(printable).join(", ")}.`);
  if (payloads.length === 0 && hooks)
    io.say(
      "No hook was called. Does the agent read that file, and is its format right? Choose another one with --format.",
    );
  else if (payloads.length === 0)
    io.say(`No hook was called. If ${id} has no hooks, continue: Backtrail can propose a profile from its files.`);
  io.say(`Propose a profile with: backtrail agents new ${id} --from ${placeOf(ended, null)}`);
}

function hookRequest(options: Options, cwd: string): HookRequest | null {
  if (options.hooks === undefined) {
    if (options.format === undefined && options.keys === undefined) return null;
    throw new UserError("usage", `${options.format ? "--format" : "--keys"} needs --hooks <file>.`);
  }
  const file = resolve(cwd, options.hooks);
  const format = options.format ?? (extname(file) === ".toml" ? "toml-hooks" : commonFormat(file));
  if (options.keys !== undefined && format !== "toml-hooks") {
    throw new UserError("usage", "--keys is for hooks in TOML (--format toml-hooks).");
  }
  const names = options.keys === undefined ? {} : { names: keysNamed(options.keys) };
  return { file, format, ...names, events: options.events === undefined ? COMMON_EVENTS : namesIn(options.events) };
}

/** `event=type,name=name` → what the agent calls the keys of a hook. */
function keysNamed(text: string): NonNullable<HookRequest["names"]> {
  const names: NonNullable<HookRequest["names"]> = {};
  for (const pair of namesIn(text)) {
    const [, given = "", name = ""] = /^([a-z]+)=([A-Za-z0-9_-]+)$/.exec(pair) ?? [];
    const key = HOOK_KEYS.find((known) => known === given);
    if (key === undefined) {
      throw new UserError(
        "usage",
        `"${pair}" names no key of a hook.`,
        `Keys: ${HOOK_KEYS.join(", ")}, as in event=type.`,
      );
    }
    names[key] = name;
  }
  return names;
}

function commonFormat(file: string): HookRequest["format"] {
  const isScripts = extname(file) === "" && basename(file).toLowerCase() === "hooks";
  if (isScripts) return "script-per-event";
  return basename(dirname(file)) === ".cursor" ? "cursor-hooks" : "claude-settings";
}

function namesIn(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
