/** What was asked for is not in the index, or may not be seen: the answer is the same. */
export class NotThere extends Error {}
