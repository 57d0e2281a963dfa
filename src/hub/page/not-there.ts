/** The same answer for data that is not in the index and for data that the person may not read. */
export class NotThere extends Error {}
