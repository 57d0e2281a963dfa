/** Where the native executable of this platform is: it comes with an optional dependency of this package. */
"use strict";

const name = `@backtrail/${process.platform}-${process.arch}`;

exports.packageName = name;

/** Its path; undefined if the package for this platform is not installed. */
exports.findExecutable = function findExecutable() {
  try {
    return require.resolve(`${name}/bin/backtrail${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    return undefined;
  }
};
