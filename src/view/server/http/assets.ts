/** The page's files, which the build bundles into the executable: see scripts/page.ts. */
import { UserError } from "../../../base/errors.ts";

export interface Asset {
  mediaType: string;
  text: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** By file name; loaded only when a server starts. */
export async function readAssets(): Promise<Map<string, Asset>> {
  const files = await pageFiles();
  return new Map(Object.entries(files).flatMap(([name, text]) => entry(name, text)));
}

async function pageFiles(): Promise<Record<string, string>> {
  try {
    return (await import("./page.generated.json")).default;
  } catch {
    throw new UserError("failed", "This copy of Backtrail contains no page.", "Build it with `npm run build`.");
  }
}

function entry(name: string, text: string): [string, Asset][] {
  const mediaType = MEDIA_TYPES[name.slice(name.lastIndexOf(".") + 1)];
  return mediaType === undefined ? [] : [[name, { mediaType, text }]];
}
