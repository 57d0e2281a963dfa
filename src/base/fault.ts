/**
 * Points at which a test may kill this process (`BACKTRAIL_FAULT=<point>`), to prove that nothing is lost
 * wherever it dies. Without that variable a point costs one comparison.
 */
const chosen = process.env["BACKTRAIL_FAULT"];

export function faultPoint(name: string): void {
  if (chosen === name) process.kill(process.pid, "SIGKILL");
}
