/**
 * The exported page as one HTML file: the page's script and style, allowed by their hashes, and the data beside them.
 * The data is JSON in a block that browsers do not run, and no text in it can end that block.
 */
import { createHash } from "node:crypto";
import { escapeHidden, oneLine, shorten } from "../../base/text.ts";
import type { ExportedData } from "../protocol.ts";
import { readAssets } from "../server/http/assets.ts";

const TITLE_LENGTH = 80;

export interface PageFiles {
  script: string;
  style: string;
}

export async function readPageFiles(): Promise<PageFiles> {
  const assets = await readAssets();
  return { script: assets.get("main.js")?.text ?? "", style: assets.get("style.css")?.text ?? "" };
}

export function htmlDocument({ script, style }: PageFiles, data: ExportedData, title: string): string {
  const shown = escaped(shorten(oneLine(title), TITLE_LENGTH) || "Session");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(script, style)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Backtrail">
<title>${shown}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript to show the session.</noscript>
<script type="application/json" id="exported">${embeddedJson(data)}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

/** Only this script and this style; nothing is fetched, framed or sent; no markup from strings. */
function policyFor(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** JSON without any character that HTML or an editor could take for something else. Its value stays the same. */
export function embeddedJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
