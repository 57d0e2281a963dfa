/** The version, which the build embeds in the executable. */
declare const BACKTRAIL_VERSION: string | undefined;

export const version = typeof BACKTRAIL_VERSION === "string" ? BACKTRAIL_VERSION : "0.0.0-source";
