/**
 * The part of our scripts that calls the user's earlier hooks, and the guard that keeps such a chain from looping. Hook
 * managers keep and call each other's scripts, so a chain of hooks can come back to our script. One variable per hook
 * records the current git command and the running hooks: when our script is entered again, it calls none of them again
 * and skips its own work. A git command that a hook starts counts as a new command, in which every hook runs.
 *
 * Our shell variables begin with `bt_`, so that the user's exported variables reach the user's hooks unchanged.
 */
import { hexDigest } from "../../base/digest.ts";
import { GIT_HOOKS } from "./names.ts";

/** A hook that our script calls before it does its own work. */
export interface EarlierHook {
  /** A bare name is relative to the script's directory, so it survives a move. */
  path: string;
  /** Identifies the hook for the guard, whatever path leads to it: its absolute path when the script was written. */
  identity: string;
  /** The shell, with options, that sources the hook so that $0 is what git calls it; null to run it as a program. */
  shell: readonly string[] | null;
  /** True if its text suggests that it may call itself, with other arguments or variables. */
  mayCallItself: boolean;
  /** A text that identifies the hook if its manager has put it back in place of our script. */
  sign: string | null;
}

/** Maximum nesting of git commands within hooks of git commands. */
const MAX_DEPTH = 8;
/** Maximum number of times that a hook may call itself. */
const MAX_AGAIN = 3;

export function guardVariable(hook: string): string {
  return `BACKTRAIL_IN_${hook.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

/** Sets $bt_nested if our script for the same hook is already running in the same git command. */
export function guard(hook: string): string[] {
  return `bt_look() {
  bt_name= bt_parent=
  if [ -r "/proc/$1/status" ]; then
    while read -r bt_key bt_value bt_rest; do
      case "$bt_key" in Name:) bt_name=$bt_value ;; PPid:) bt_parent=$bt_value; break ;; esac
    done <"/proc/$1/status"
  else
    set -- $(/bin/ps -o ppid= -o comm= -p "$1" 2>/dev/null)
    [ $# -eq 0 ] || { bt_parent=$1; shift; bt_name=$*; }
  fi
  bt_name=\${bt_name##*/}
}
bt_outer=$$ bt_nested= bt_depth=i bt_again=i bt_size=0 bt_running=
bt_mark=$${guardVariable(hook)}
if [ -n "$bt_mark" ]; then
  # Is a git command between this process and the one that has set the variable?
  bt_pid=$$ bt_steps= bt_inner=
  while [ "$bt_pid" != "\${bt_mark%% *}" ] && [ \${#bt_steps} -lt 99 ]; do
    bt_look "$bt_pid"
    case "$bt_name" in git | git.exe) bt_inner=yes ;; esac
    # Without an answer the worst is assumed; a process that is no ancestor has ended long ago.
    case "$bt_parent" in "") break ;; 0 | 1) bt_mark=; break ;; esac
    bt_pid=$bt_parent bt_steps=i$bt_steps
  done
fi
if [ -n "$bt_mark" ]; then
  bt_rest=\${bt_mark#* }
  if [ -n "$bt_inner" ]; then
    bt_depth=i\${bt_rest%% *}
    case "$bt_depth" in ${"i".repeat(MAX_DEPTH)}*) exit 0 ;; esac
  else
    bt_nested=yes bt_outer=\${bt_mark%% *} bt_depth=\${bt_rest%% *} bt_rest=\${bt_rest#* }
    bt_again=\${bt_rest%% *} bt_rest=\${bt_rest#* }
    bt_size=\${bt_rest%% *} bt_running=\${bt_rest#* }
  fi
fi`.split("\n");
}

interface CallOptions {
  hook: string;
  site: string;
  /** Standard input has been read into $bt_input. */
  keepsInput: boolean;
  /** Nothing follows this call in the script. */
  isLast: boolean;
}

export function callEarlier(earlier: EarlierHook, options: CallOptions): string[] {
  const { hook, site, keepsInput, isLast } = options;
  const path = earlier.path.includes("/") ? quoted(earlier.path) : `"\${0%/*}/"${quoted(earlier.path)}`;
  const id = hexDigest("sha256", earlier.identity).slice(0, 12);
  const mark = `${guardVariable(hook)}="$bt_outer $bt_depth $bt_again $bt_size $bt_running ${id}"`;
  const call = isLast && earlier.shell === null ? 'exec "$bt_earlier" "$@"' : callLine(hook, earlier.shell);
  return [
    `bt_earlier=${path}`,
    ...(site === hook && earlier.sign !== null ? unlessPutBack(hook, earlier.sign) : []),
    ...mayRun(id, options, earlier.mayCallItself),
    'if [ -n "$bt_go" ] && [ -x "$bt_earlier" ]; then',
    `  export ${mark}`,
    keepsInput ? `  if [ -n "$bt_input" ]; then printf '%s\\n' "$bt_input"; fi | ${call}` : `  ${call}`,
    "  bt_status=$?",
    "  [ $bt_status -eq 0 ] || exit $bt_status",
    "fi",
  ];
}

/** A tool that moved our script may have put back the hook that we keep: that hook is already running then. */
function unlessPutBack(hook: string, sign: string): string[] {
  const top = `"\${0%/*}/"${quoted(hook)}`;
  return [
    `if [ "\${0##*/}" != ${quoted(hook)} ] && [ -r ${top} ]; then`,
    '  while IFS= read -r bt_line || [ -n "$bt_line" ]; do',
    `    case "$bt_line" in *${inTwo(sign)}*) bt_earlier=; break ;; esac`,
    `  done <${top}`,
    "fi",
  ];
}

/** Splits the sign so that our script does not contain it: its manager would take the script for its own. */
function inTwo(sign: string): string {
  const middle = Math.floor(sign.length / 2);
  return quoted(sign.slice(0, middle)) + quoted(sign.slice(middle));
}

/**
 * Sets $bt_go. A hook that calls itself through our script (husky 8 does, to run under `sh -e`) marks the second call
 * with a new variable or argument; a hook that passes nothing new would loop forever.
 */
function mayRun(id: string, { hook, site }: CallOptions, mayCallItself: boolean): string[] {
  if (!mayCallItself) return [`case " $bt_running " in *" ${id} "*) bt_go= ;; *) bt_go=yes ;; esac`];
  const guards = new Set([hook, ...GIT_HOOKS].map(guardVariable));
  const unset = [...guards, "BACKTRAIL_EARLIER_HOOK", "SHLVL", "OLDPWD", "PWD", "_"];
  return [
    `bt_now=$(unset ${unset.join(" ")}; export -p; printf '%s' "$*")`,
    "bt_go=yes",
    `case " $bt_running " in *" ${id} "*)`,
    `  bt_again=i$bt_again`,
    `  case "$bt_again" in ${"i".repeat(MAX_AGAIN + 2)}*) bt_go= ;; esac`,
    `  [ "\${0##*/}" = ${quoted(site)} ] && [ "\${#bt_now}" != "$bt_size" ] || bt_go= ;;`,
    "esac",
    `bt_size=\${#bt_now}`,
  ];
}

/** Shells that need no separate process: our script already runs in one of them and can source the hook. */
const PLAIN = [["/bin/sh"], ["/usr/bin/sh"], ["/usr/bin/env", "sh"]];

function callLine(hook: string, shell: readonly string[] | null): string {
  if (shell === null) return '"$bt_earlier" "$@"';
  const words = shell.map(quoted).join(" ");
  const apart = `BACKTRAIL_EARLIER_HOOK=$bt_earlier ${words} -c '. "$BACKTRAIL_EARLIER_HOOK"' "\${0%/*}/"${quoted(hook)} "$@"`;
  if (!PLAIN.some((plain) => plain.join(" ") === shell.join(" "))) return apart;
  return `if [ "\${0##*/}" = ${quoted(hook)} ]; then ( . "$bt_earlier" ); else ${apart}; fi`;
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
