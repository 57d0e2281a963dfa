/** The names of git's hooks. */

/** The hooks in which Backtrail has its own work to do. */
export const GIT_HOOKS = ["prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"] as const;

/** Hooks that our directory passes on, even if the user adds them later. */
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
