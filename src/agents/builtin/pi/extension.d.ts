/** The extension as text. */
declare const source: string;
export default source;
