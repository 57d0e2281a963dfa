/**
 * The shell scripts that git runs. Each calls the hook that was there before, respects its answer, and starts a process of
 * ours only if a session has something to say to the commit: otherwise it is a test in the shell and nothing else.
 */
export const GIT_HOOKS = ["prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"] as const;
export type GitHook = (typeof GIT_HOOKS)[number];

/** By this line a script is known as ours. */
const OURS = "# Installed by Backtrail: `backtrail disable` puts back what was here before.";
/** Hooks that are passed on from a directory of ours, also where the user adds them later. */
export const OTHER_HOOKS: readonly string[] = [
  "applypatch-msg",
  "pre-applypatch",
  "post-applypatch",
  "pre-commit",
  "pre-merge-commit",
  "pre-rebase",
  "post-checkout",
  "post-merge",
];
/** What an earlier hook of the user's is called while ours stands in its place. */
export const KEPT_SUFFIX = ".before-backtrail";

export interface ScriptPlace {
  /** Absolute path of our executable. */
  executable: string;
  /** The store's directory; null where it can be told from the script's own place, which outlives a move. */
  storeDir: string | null;
  /** The hook that was there before: run as a program, or read by the same shell where it looks at its own name. */
  earlier: { path: string; how: "run" | "source" } | null;
}

export function isOurScript(content: string): boolean {
  return content.includes(OURS);
}

export function scriptFor(hook: GitHook, place: ScriptPlace): string {
  const lines = ["#!/bin/sh", OURS];
  lines.push(...earlierHook(hook, place));
  lines.push(place.storeDir === null ? `store="\${0%/*}/../backtrail"` : `store=${quoted(place.storeDir)}`);
  lines.push(...ownPart(hook, quoted(place.executable), place.earlier !== null));
  lines.push("exit 0", "");
  return lines.join("\n");
}

/** For a hook that we have nothing to do in, in a directory of ours that stands before the user's. */
export function passingScript(path: string): string {
  return ["#!/bin/sh", OURS, `[ ! -x ${quoted(path)} ] || exec ${quoted(path)} "$@"`, "exit 0", ""].join("\n");
}

/** git tells these on standard input what it is about: an earlier hook gets it as well. */
function readsInput(hook: GitHook): boolean {
  return hook === "post-rewrite" || hook === "pre-push";
}

function earlierHook(hook: GitHook, { earlier }: ScriptPlace): string[] {
  if (!earlier) return [];
  // A bare name stands beside the script, and moves with it.
  const path = earlier.path.includes("/") ? quoted(earlier.path) : `"\${0%/*}/"${quoted(earlier.path)}`;
  const call = earlier.how === "source" ? '( . "$earlier" )' : '"$earlier" "$@"';
  if (readsInput(hook)) {
    return [
      `earlier=${path}`,
      "input=$(cat)",
      'if [ -x "$earlier" ]; then',
      `  if [ -n "$input" ]; then printf '%s\\n' "$input"; fi | ${call}`,
      "  status=$?",
      "  [ $status -eq 0 ] || exit $status",
      "fi",
    ];
  }
  return [
    `earlier=${path}`,
    'if [ -x "$earlier" ]; then',
    `  ${call}`,
    "  status=$?",
    "  [ $status -eq 0 ] || exit $status",
    "fi",
  ];
}

function ownPart(hook: GitHook, executable: string, hasEarlier: boolean): string[] {
  const call = (more: string) => `[ ! -x ${executable} ] || ${executable} hooks git ${hook}${more} || :`;
  switch (hook) {
    case "prepare-commit-msg":
      return [...ifRewritten, ...ifAny(CONCERNED, call(' "$PPID" "$@" </dev/null'))];
    case "post-commit":
      // Not by the same marks: with the files committed, the worker may have taken them away by now.
      return ifAny(INTENDED, call(" </dev/null"));
    case "commit-msg":
      // A message that begins with our trailer is one that nobody has written.
      return [
        'while IFS= read -r line || [ -n "$line" ]; do',
        '  case "$line" in',
        '    "") ;;',
        `    "Entire-Checkpoint: "*) ${call(' "$@" </dev/null')}; break ;;`,
        "    *) break ;;",
        "  esac",
        'done <"$1"',
      ];
    case "post-rewrite":
      return [
        'if [ -d "$store/checkpoints" ]; then',
        hasEarlier
          ? '  printf \'%s\\n\' "$input" >>"$store/rewrites"'
          : '  while IFS= read -r line; do printf \'%s\\n\' "$line"; done >>"$store/rewrites"',
        "fi",
      ];
    case "pre-push":
      return [
        hasEarlier ? "" : "input=$(cat)",
        'case "$input" in *refs/backtrail/*)',
        "  echo 'backtrail: this push takes refs/backtrail along: steps and conversations as they are, not redacted.' >&2",
        "  echo \"backtrail: 'refs/heads/*' 'refs/tags/*' instead of --mirror leaves them out.\" >&2 ;;",
        "esac",
        `if [ -e "$store/push" ]; then ${call(' "$@" </dev/null')}; fi`,
      ].filter((line) => line !== "");
  }
}

/**
 * A squash has the links of its commits only in its message, an amended commit with a new message in none: these are looked at
 * although no session may be concerned. What git was called with is read without starting anything, where the system shows it.
 */
const ifRewritten: readonly string[] = [
  "rewritten=/nowhere",
  'if [ -d "$store/checkpoints" ]; then',
  '  case "$2" in',
  '    squash) rewritten="$store" ;;',
  "    message)",
  "      words=",
  '      [ ! -r "/proc/$PPID/cmdline" ] || IFS= read -r words <"/proc/$PPID/cmdline"',
  '      case "$words" in *--amend*) rewritten="$store" ;; esac ;;',
  "  esac",
  "fi",
];

/** Some session of this repository has changed files that no commit took, or is in a turn. */
const CONCERNED = '"$rewritten" "$store"/worktrees/*/pending/* "$store"/worktrees/*/active/*';
/** The commit was found to belong to a session when its message was made. */
const INTENDED = '"$store"/worktrees/*/commit-intent.json';

function ifAny(marks: string, call: string): string[] {
  return [`for mark in ${marks}; do`, '  [ -e "$mark" ] || continue', `  ${call}`, "  break", "done"];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
