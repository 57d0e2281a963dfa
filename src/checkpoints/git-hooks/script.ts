/**
 * Generates the shell scripts that git runs. Each script calls the earlier hooks, respects their exit status, and
 * starts our process only if a session is concerned with the commit; otherwise it only runs a test in the shell.
 */
import { hexDigest } from "../../base/digest.ts";
import { callEarlier, type EarlierHook, guard, guardVariable, quoted } from "./guard.ts";

/** This line identifies a script as ours. */
const OURS = "# Installed by Backtrail: `backtrail disable` puts back what was here before.";
const CHECKSUM = /^# Checksum: ([0-9a-f]{12})\n/m;

export interface HookScript {
  hook: string;
  /** The file name of the script: the hook's own name, or one that another hook manager calls. */
  site: string;
  /** Absolute path of our executable. */
  executable: string;
  /** The store's directory; null if the script derives it from its own path, which survives a move. */
  storeDir: string | null;
  /** The earlier hooks, in the order in which they run. */
  earlier: readonly EarlierHook[];
  /** A sign of the hook manager that this script replaces, so that the manager takes the script for its own. */
  standsFor: string | null;
}

export function isOurScript(content: string): boolean {
  return content.includes(OURS);
}

/** Scripts of earlier versions have no guard: two of them can call each other forever. */
export function hasGuard(content: string): boolean {
  return content.includes(guardVariable(""));
}

/** True if our script calls an earlier hook. */
export function callsEarlier(content: string): boolean {
  return /^(?:bt_)?earlier=./m.test(content);
}

/** True if someone edited our script (latin1 text). False for scripts without a checksum. */
export function isEdited(content: string): boolean {
  const [line, sum] = CHECKSUM.exec(content) ?? [];
  return line !== undefined && checksumOf(Buffer.from(content.replace(line, ""), "latin1")) !== sum;
}

export function writeHookScript(script: HookScript): string {
  const { hook, site } = script;
  const lines = ["#!/bin/sh", OURS];
  if (script.standsFor !== null)
    lines.push(`# Stands in for ${script.standsFor}, which may replace or remove this file.`);
  lines.push(...guard(hook));
  const work = ownPart(script);
  const keepsInput = work.length > 0 && readsInput(hook) && script.earlier.length > 0;
  if (keepsInput) lines.push(READ_INPUT);
  for (const [index, earlier] of script.earlier.entries()) {
    const isLast = work.length === 0 && index === script.earlier.length - 1;
    lines.push(...callEarlier(earlier, { hook, site, keepsInput, isLast }));
  }
  lines.push(`unset ${guardVariable(hook)}`);
  if (work.length > 0) {
    lines.push('[ -z "$bt_nested" ] || exit 0');
    lines.push(script.storeDir === null ? `bt_store="\${0%/*}/../backtrail"` : `bt_store=${quoted(script.storeDir)}`);
    lines.push(...work);
  }
  lines.push("exit 0", "");
  const text = lines.join("\n");
  return text.replace(`${OURS}\n`, `${OURS}\n# Checksum: ${checksumOf(Buffer.from(text))}\n`);
}

function checksumOf(bytes: Uint8Array): string {
  return hexDigest("sha256", bytes).slice(0, 12);
}

/** git passes data to these hooks on standard input, which an earlier hook must receive as well. */
export function readsInput(hook: string): boolean {
  return hook === "post-rewrite" || hook === "pre-push";
}

/** `command -p` avoids a repository's `cat` on PATH, and works without PATH; the plain `cat` is the fallback. */
const READ_INPUT = "bt_input=$(command -p cat 2>/dev/null || cat)";

/** The script lines for Backtrail's own work; empty for hooks that are only passed on. */
function ownPart({ hook, executable, earlier }: HookScript): string[] {
  const program = quoted(executable);
  const call = (more: string) => `[ ! -x ${program} ] || ${program} hooks git ${hook}${more} || :`;
  switch (hook) {
    case "prepare-commit-msg":
      return [...ifRewritten, ...ifAny(CONCERNED, call(' "$PPID" "$@" </dev/null'))];
    case "post-commit":
      // Don't test the CONCERNED marks here: once the files are committed, the worker may have deleted them.
      return ifAny(INTENDED, call(" </dev/null"));
    case "commit-msg":
      // A message that begins with our trailer has no text from the user.
      return [
        'while IFS= read -r bt_line || [ -n "$bt_line" ]; do',
        '  case "$bt_line" in',
        '    "") ;;',
        `    "Entire-Checkpoint: "*) ${call(' "$@" </dev/null')}; break ;;`,
        "    *) break ;;",
        "  esac",
        'done <"$1"',
      ];
    case "post-rewrite":
      return [
        'if [ -d "$bt_store/checkpoints" ]; then',
        earlier.length > 0
          ? '  printf \'%s\\n\' "$bt_input" >>"$bt_store/rewrites"'
          : '  while IFS= read -r bt_line; do printf \'%s\\n\' "$bt_line"; done >>"$bt_store/rewrites"',
        "fi",
      ];
    case "pre-push":
      return [
        ...(earlier.length > 0 ? [] : [READ_INPUT]),
        ...notice,
        `if [ -n "$bt_unasked" ] && [ -x ${program} ] && [ "$(${program} hooks git unasked-push </dev/null)" = refuse ]; then`,
        "  echo 'backtrail: nothing was pushed, because the setting push.unasked is refuse.' >&2",
        "  exit 1",
        "fi",
        `if [ -e "$bt_store/push" ]; then ${call(' "$@" </dev/null')}; fi`,
      ];
    default:
      return [];
  }
}

/**
 * Warns about a push that includes more than the user may expect. A user who pushes only checkpoints, or has enabled
 * pushing them to this remote, intends to; a deletion sends nothing. The mark names the remote; an earlier version left
 * it empty.
 */
const notice: readonly string[] = [
  "bt_unasked=",
  'case "$bt_input" in *refs/backtrail/*)',
  "  bt_unasked=1",
  "  echo 'backtrail: this push takes refs/backtrail along: every recorded state of your files.' >&2",
  "  echo \"backtrail: 'refs/heads/*' 'refs/tags/*' instead of --mirror leaves them out.\" >&2 ;;",
  "esac",
  'case "$bt_input" in *entire/checkpoints/*)',
  "bt_asked=",
  'if [ -e "$bt_store/push" ]; then',
  "  bt_to=",
  '  read -r bt_to <"$bt_store/push"',
  '  { [ -z "$bt_to" ] || [ "$bt_to" = "$1" ] || [ "$bt_to" = "$2" ]; } && bt_asked=1',
  "fi",
  'if [ -z "$bt_asked" ]; then',
  "  bt_said= bt_other=",
  "  while read -r bt_local bt_rest; do",
  '    case "$bt_local" in',
  "      refs/*entire/checkpoints/*) bt_said=1 ;;",
  "      refs/*) bt_other=1 ;;",
  "    esac",
  "  done <<BT_END",
  "$bt_input",
  "BT_END",
  '  if [ -n "$bt_said" ] && [ -n "$bt_other" ]; then',
  "    bt_unasked=1",
  "    echo 'backtrail: this push takes checkpoints along: the prompts and answers behind commits.' >&2",
  "    echo \"backtrail: '^refs/heads/entire/*' behind the other refs leaves them out: git push <remote> 'refs/heads/*' '^refs/heads/entire/*'\" >&2",
  "  fi",
  "fi ;;",
  "esac",
];

/**
 * A squash has the links of its commits only in its message; an amended commit with a new message and a commit after a
 * soft reset have none. Check these commits even if no session is concerned. Where the system exposes git's command
 * line, read it without starting a process; another hook manager may run between git and this script.
 */
const ifRewritten: readonly string[] = [
  "bt_rewritten=/nowhere",
  'if [ -d "$bt_store/checkpoints" ]; then',
  `  bt_git=\${1%/*}`,
  '  if [ -e "$bt_git/SQUASH_MSG" ]; then',
  '    bt_rewritten="$bt_store"',
  '  elif [ -e "$bt_git/ORIG_HEAD" ] && [ -e "$bt_git/logs/HEAD" ]; then',
  '    case "$(command -p tail -n 1 "$bt_git/logs/HEAD" 2>/dev/null)" in *"\treset: "*) bt_rewritten="$bt_store" ;; esac',
  "  fi",
  '  case "$2" in',
  '    squash) bt_rewritten="$bt_store" ;;',
  "    message)",
  "      bt_pid=$PPID bt_words=",
  '      while [ -r "/proc/$bt_pid/cmdline" ]; do',
  '        bt_look "$bt_pid"',
  '        case "$bt_name" in git | git.exe) IFS= read -r bt_words <"/proc/$bt_pid/cmdline"; break ;; esac',
  '        case "$bt_parent" in "" | 0 | 1) break ;; esac',
  "        bt_pid=$bt_parent",
  "      done",
  '      case "$bt_words" in *--amend*) bt_rewritten="$bt_store" ;; esac ;;',
  "  esac",
  "fi",
];

/** Matches if a session of this repository has uncommitted changes or is in a turn. */
const CONCERNED = '"$bt_rewritten" "$bt_store"/worktrees/*/pending/* "$bt_store"/worktrees/*/active/*';
/** Matches if prepare-commit-msg found that the commit belongs to a session. */
const INTENDED = '"$bt_store"/worktrees/*/commit-intent.json';

function ifAny(marks: string, call: string): string[] {
  return [`for bt_mark in ${marks}; do`, '  [ -e "$bt_mark" ] || continue', `  ${call}`, "  break", "done"];
}
