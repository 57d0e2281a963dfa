/** Files that OpenCode's tools wrote. What commands change is not among them: nobody can tell whose it is. */
import { isRecord } from "../profile.ts";
import type { Message, Part } from "./records.ts";

export function writtenFiles(messages: readonly Message[]): string[] {
  const parts = messages.flatMap((message) => message.parts);
  return [...new Set(parts.flatMap((part) => (part.type === "tool" ? filesOf(part) : [])))];
}

/** A use that failed wrote nothing; one whose end is not known may have. */
export function filesOf({ name, status, input, metadata }: Part & { type: "tool" }): string[] {
  if (status === "error") return [];
  switch (name) {
    case "write":
    case "edit":
    case "multiedit":
      return isRecord(input) ? paths([input["filePath"]]) : [];
    case "patch":
    case "apply_patch": {
      const files = isRecord(metadata) && Array.isArray(metadata["files"]) ? metadata["files"].filter(isRecord) : [];
      return files.flatMap((file) => paths([file["filePath"], file["movePath"]]));
    }
    default:
      return [];
  }
}

function paths(values: unknown[]): string[] {
  return values.filter((value): value is string => typeof value === "string" && value !== "" && !value.includes("\0"));
}
