/** The names of sharing levels and roles, apart from the protocol: the command table needs them, and no schema. */

/** What leaves a machine, in rising order. A level includes the ones before it. */
export const LEVELS = ["counts", "prompts", "everything"] as const;
export type Level = (typeof LEVELS)[number];

/** `admin` also manages people; `member` sends and reads; `reader` only reads. */
export const ROLES = ["admin", "member", "reader"] as const;
export type Role = (typeof ROLES)[number];

export function levelNumber(level: Level): number {
  return LEVELS.indexOf(level);
}
