/** The page of `backtrail view`: signs in, connects to the server, and shows the screen of the address. */
import { render } from "preact";
import { setRepository, signIn } from "./data/client.ts";
import { connect } from "./data/live.ts";
import { route, startRouter } from "./data/router.ts";
import { App } from "./shell/app.tsx";
import { startKeys } from "./shell/keys.ts";
import { applyTheme } from "./shell/theme.tsx";

applyTheme();
// A token that was used before is refused; the cookie may still be valid, and the state tells.
await signIn().catch(() => {});
route.follow(({ query }) => setRepository(query["repository"] ?? ""));
startRouter();
startKeys();
connect();
const place = document.getElementById("app");
if (place) render(<App />, place);
