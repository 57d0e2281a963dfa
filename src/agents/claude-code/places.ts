/** Where Claude Code keeps the transcripts of a directory. */

const LONGEST_NAME = 200;

/** Every character but letters and digits becomes a hyphen; a long name is cut and told apart by a hash. */
export function projectDirectoryName(directory: string): string {
  const name = directory.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hash(directory)).toString(36)}`;
}

function hash(text: string): number {
  let value = 0;
  for (let i = 0; i < text.length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) | 0;
  return value;
}
