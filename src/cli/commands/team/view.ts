/** `team view`: signs a browser in at the hub's page, and opens it. */

import { requireMembership } from "../../../team/membership.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { ask } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import { openInBrowser } from "../../terminal/open-browser.ts";
import type { teamViewCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamViewCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { url: hub } = requireMembership();
  const { link, expiresAt } = await ask((client) => client.link());
  // Behind a `#`, which no browser sends to a server.
  const url = `${hub}/#token=${link}`;
  if (options.json) {
    io.json({ url, expiresAt });
    return;
  }
  io.print(url);
  const isOpened = options.open !== false && openInBrowser(url, io.environment);
  io.say(isOpened ? "Opened in your browser." : "Open this address in a browser. It works once, for ten minutes.");
}
