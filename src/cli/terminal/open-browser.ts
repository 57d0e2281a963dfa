/** Opens an address in the user's browser. */
import { findProgram } from "../../base/process/program.ts";
import { spawn } from "../../base/runtime.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** False if there is no browser to open, or no display for one. */
export function openInBrowser(url: string, environment: Environment): boolean {
  const command = commandFor(environment);
  const program = command && findProgram(command[0]);
  if (!command || !program) return false;
  try {
    const [, ...args] = command;
    spawn(program, [...args, url], { stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true }).unref();
    return true;
  } catch {
    return false;
  }
}

function commandFor(environment: Environment): [string, ...string[]] | undefined {
  const chosen = environment["BROWSER"];
  if (chosen && /^[\w./+-]+$/.test(chosen)) return [chosen];
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  if (!environment["DISPLAY"] && !environment["WAYLAND_DISPLAY"]) return undefined;
  return ["xdg-open"];
}
