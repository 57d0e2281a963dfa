/**
 * Fault points: a test may kill this process there (`BACKTRAIL_FAULT=<point>`) to prove that nothing is lost, or stop
 * it once (`BACKTRAIL_FAULT=stop:<point>`) to act meanwhile. Without that variable, a point costs one comparison.
 */
const STOP = "stop:";
const wanted = process.env["BACKTRAIL_FAULT"];
const signal = wanted?.startsWith(STOP) ? "SIGSTOP" : "SIGKILL";
let chosen = wanted?.startsWith(STOP) ? wanted.slice(STOP.length) : wanted;

export function faultPoint(name: string): void {
  if (chosen !== name) return;
  chosen = undefined;
  process.kill(process.pid, signal);
}
