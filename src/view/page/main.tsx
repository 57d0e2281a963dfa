/** The page of `backtrail view`: signs in, connects to the server, and shows the screen of the address. An exported
 *  page has its data inside, and no server. */
import { render } from "preact";
import { askEarly, setRepository, signIn } from "./data/client.ts";
import { exported } from "./data/exported.ts";
import { connect } from "./data/live.ts";
import { replace, route, startRouter, to } from "./data/router.ts";
import { App } from "./shell/app.tsx";
import { startKeys } from "./shell/keys.ts";
import { applyTheme } from "./shell/theme.tsx";
import { filterOf } from "./timeline/filters.tsx";
import { firstPage } from "./timeline/use-timeline.ts";

applyTheme();
// A token that was used before is refused; the cookie may still be valid, and the state tells.
if (!exported) await signIn().catch(() => {});
route.follow(({ query }) => setRepository(query["repository"] ?? ""));
startRouter();
startKeys();
if (!exported) {
  connect();
  askEarly("state", {});
  const { screen } = route.get();
  if (screen === "" || screen === "turn") askEarly("timeline", firstPage(filterOf(route.get())));
} else if (location.hash === "") {
  replace(to("session", [exported.sessions[0]?.details.session.id ?? ""]));
}
const place = document.getElementById("app");
if (place) render(<App />, place);
