/** An object to be stored, and its compression. */
import { deflate } from "../../base/runtime.ts";

export type ObjectType = "commit" | "tree" | "blob";

export interface PendingObject {
  id: string;
  type: ObjectType;
  data: Uint8Array;
}

/** From this size on, objects are stored uncompressed: git compresses them when it packs, while no hook waits. */
const PLAIN_FROM = 1 << 20;
/** Half of a tree consists of ids, which do not compress. */
const PLAIN_TREE_FROM = 64 << 10;

/** `data` is the object as stored: with its header if loose, without it in a pack. */
export function compressed(type: ObjectType, data: Uint8Array): Buffer {
  return deflate(data, data.length >= (type === "tree" ? PLAIN_TREE_FROM : PLAIN_FROM) ? 0 : 1);
}
