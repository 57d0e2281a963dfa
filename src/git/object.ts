/** An object on its way into the store, and how it is compressed there. */
import { deflate } from "../base/digest.ts";

export type ObjectType = "commit" | "tree" | "blob";

export interface PendingObject {
  id: string;
  type: ObjectType;
  data: Uint8Array;
}

/** Large data is stored as it is: git compresses it when it packs, which no hook waits for. */
const PLAIN_FROM = 1 << 20;

export function compressed(data: Uint8Array): Buffer {
  return deflate(data, data.length >= PLAIN_FROM ? 0 : 1);
}
