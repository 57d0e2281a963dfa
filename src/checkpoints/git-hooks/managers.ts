/**
 * Other tools that install git hooks, and how they treat an existing hook: the name under which they keep it, and
 * whether they call it. Everything else about a hook is derived from its text.
 */
export interface HookManager {
  name: string;
  /** Its files in a work tree. */
  files: readonly string[];
  /** Texts that identify its scripts; any one suffices. The texts that the tool itself looks for come first. */
  signs: readonly string[];
  /** The suffix that it adds to the name of an existing hook. */
  keepsAs: string | null;
  /** Whether it calls the hook that it keeps: always, if its script says so, or never. */
  callsKept: "always" | "by its text" | "never";
  /** True if it replaces and removes any script that contains its first sign, like one of its own. */
  adoptsBySign: boolean;
}

const ENTIRE: HookManager = {
  name: "Entire",
  files: [".entire"],
  signs: ["Entire CLI hooks", ".pre-entire"],
  keepsAs: ".pre-entire",
  callsKept: "by its text",
  adoptsBySign: false,
};

const PRE_COMMIT: HookManager = {
  name: "pre-commit",
  files: [".pre-commit-config.yaml"],
  signs: [
    "138fd403232d2ddd5efb44317e38bf03",
    "4d9958c90bc262f47553e2c073f14cfe",
    "d8ee923c46731b42cd95cc869add4062",
    "49fd668cb42069aa1b6048464be5d395",
    "79f09a650522a87b0da915d0d983b2de",
    "e358c9dae00eac5d06b38dfdb1e33a8c",
  ],
  keepsAs: ".legacy",
  callsKept: "always",
  adoptsBySign: true,
};

const LEFTHOOK: HookManager = {
  name: "lefthook",
  files: ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook.toml", "lefthook.json"],
  signs: ["LEFTHOOK"],
  keepsAs: ".old",
  callsKept: "never",
  adoptsBySign: true,
};

const HUSKY: HookManager = {
  name: "husky",
  files: [".husky", ".huskyrc", ".huskyrc.json"],
  signs: ['. "$(dirname "$0")/h"', "# Created by Husky"],
  keepsAs: null,
  callsKept: "never",
  adoptsBySign: false,
};

const OVERCOMMIT: HookManager = {
  name: "overcommit",
  files: [".overcommit.yml"],
  signs: ["OVERCOMMIT_DISABLE"],
  keepsAs: null,
  callsKept: "never",
  adoptsBySign: false,
};

/** husky comes first: if several managers are set up, git runs husky's hooks. */
export const MANAGERS: readonly HookManager[] = [HUSKY, LEFTHOOK, PRE_COMMIT, OVERCOMMIT, ENTIRE];

/** Returns the manager that wrote a hook. */
export function managerOf(content: string): HookManager | null {
  return MANAGERS.find(({ signs }) => signs.some((sign) => content.includes(sign))) ?? null;
}

export function signIn(manager: HookManager, content: string): string | null {
  return manager.signs.find((sign) => content.includes(sign)) ?? null;
}
