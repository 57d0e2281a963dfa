/** Where a conversation comes from that has no file: the prefix of its `origin`. */
export const ORIGIN = { run: "run ", checkpoint: "checkpoint ", steps: "steps " } as const;

/** A transcript, or a session in an agent's database, replaces such a conversation. */
export function isReplaceable(origin: string): boolean {
  return Object.values(ORIGIN).some((prefix) => origin.startsWith(prefix));
}
