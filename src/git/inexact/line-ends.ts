/** Decides from `git ls-files --eol` whether a checkout would reproduce a file's line endings. */
import type { ConversionConfig } from "../conversion/config-cache.ts";

export interface LineEnds {
  /**
   * Line endings of the staged blob and of the file: "lf", "crlf", "mixed", "none", "-text" for binary; empty if
   * unreadable.
   */
  staged: string;
  file: string;
  /** For example "text=auto eol=crlf"; empty if no attribute is set. */
  attributes: string;
}

const LINE = /^i\/(\S*) +w\/(\S*) +attr\/(.*?) *$/;

/** Parses the part of a line before the path. */
export function parseLineEnds(text: string): LineEnds | undefined {
  const [, staged, file, attributes] = LINE.exec(text) ?? [];
  return staged === undefined || file === undefined || attributes === undefined
    ? undefined
    : { staged, file, attributes };
}

/** Returns "unknown" if the result depends on more than these values, so that only git can decide. */
export function compareLineEnds(
  { staged, file, attributes }: LineEnds,
  facts: ConversionConfig,
): "exact" | "inexact" | "unknown" {
  const written = writtenEnds(attributes, facts);
  if (staged === "lf" && ["lf", "crlf", "mixed"].includes(file) && written !== "as-stored")
    return written === file ? "exact" : "inexact";
  if (staged !== file || staged === "") return "unknown";
  if (staged === "none" || staged === "crlf" || written === "as-stored") return "exact";
  return staged === "-text" && !isDeclaredText(attributes) ? "exact" : "unknown";
}

/** True if other bytes that git stores the same way always have another size. */
export function isSteady({ file, attributes }: LineEnds): boolean {
  if (file === "-text") return !isDeclaredText(attributes);
  return file === "lf" || file === "crlf" || file === "none";
}

/** git detects binary files only where no attribute declares text. */
function isDeclaredText(attributes: string): boolean {
  return /^text(?!=auto)/.test(attributes);
}

/** How a checkout writes LF line endings of a text file. */
function writtenEnds(attributes: string, { autocrlf, writesCrlf }: ConversionConfig): "crlf" | "lf" | "as-stored" {
  if (attributes === "-text") return "as-stored";
  if (attributes.includes("eol=crlf")) return "crlf";
  if (attributes.includes("eol=lf")) return "lf";
  if (attributes === "") return autocrlf === "true" ? "crlf" : autocrlf === "input" ? "lf" : "as-stored";
  return writesCrlf ? "crlf" : "lf";
}
