/** The frame of every screen: header, the screen of the address, dialogs, live regions. */
import { ConfirmDialog } from "../acting/confirm.tsx";
import { Proposals } from "../acting/proposals.tsx";
import { ReceiptCard } from "../acting/receipt.tsx";
import { SignedOutOfHub } from "../colleagues/member.tsx";
import { isHub } from "../data/hub.ts";
import { connection } from "../data/live.ts";
import { type Route, route, to } from "../data/router.ts";
import { useStore } from "../data/store.ts";
import { useQuery } from "../data/use-query.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { FILTERS } from "../timeline/filters.tsx";
import { TimelineScreen } from "../timeline/timeline.tsx";
import { announcement } from "./announce.ts";
import { Boundary } from "./boundary.tsx";
import { AppContext, useHas } from "./context.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help.tsx";
import { lazy } from "./lazy.tsx";

/** Screens beyond the first are loaded when they are opened. */
const screens = {
  activity: lazy(() => import("../colleagues/activity.tsx").then((module) => module.ActivityScreen)),
  time: lazy(() => import("../screens/time.tsx").then((module) => module.TimeScreen)),
  session: lazy(() => import("../screens/session.tsx").then((module) => module.SessionScreen)),
  sessions: lazy(() => import("../screens/sessions.tsx").then((module) => module.SessionsScreen)),
  search: lazy(() => import("../screens/search.tsx").then((module) => module.SearchScreen)),
  blame: lazy(() => import("../screens/blame.tsx").then((module) => module.BlameScreen)),
  commits: lazy(() => import("../screens/commits.tsx").then((module) => module.CommitsScreen)),
  commit: lazy(() => import("../screens/commit.tsx").then((module) => module.CommitScreen)),
  forks: lazy(() => import("../screens/forks.tsx").then((module) => module.ForksScreen)),
  fork: lazy(() => import("../screens/fork.tsx").then((module) => module.ForkScreen)),
  runs: lazy(() => import("../screens/runs.tsx").then((module) => module.RunsScreen)),
  run: lazy(() => import("../screens/run.tsx").then((module) => module.RunScreen)),
  repositories: lazy(() => import("../screens/repositories.tsx").then((module) => module.RepositoriesScreen)),
  subagent: lazy(() => import("../screens/subagent.tsx").then((module) => module.SubagentScreen)),
};

export function App() {
  const { data: state, error, reload } = useQuery("state", {}, ["timeline", "sessions"]);
  const place = useStore(route);
  if (error?.kind === "signed-out") return <SignedOut />;
  if (error)
    return (
      <main>
        <h1 class="hidden">Backtrail</h1>
        <Problem error={error} retry={reload} />
      </main>
    );
  if (!state)
    return (
      <main>
        <h1 class="hidden">Backtrail</h1>
        <Skeleton lines={12} label="Loading" />
      </main>
    );
  return (
    <AppContext.Provider value={state}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <Header place={place} />
      <Lost />
      {!isHub && <Proposals />}
      <main id="main" tabIndex={-1}>
        <Boundary key={`${place.screen} ${place.parts.join("/")}`}>
          <Screen place={place} />
        </Boundary>
      </main>
      <ReceiptCard />
      <ConfirmDialog />
      <HelpDialog />
      <Announcer />
    </AppContext.Provider>
  );
}

function Screen({ place }: { place: Route }) {
  const has = useHas();
  const { screen, parts, query } = place;
  const [first = ""] = parts;
  if (screen === "" || screen === "turn") {
    const filter = Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
    return <TimelineScreen id={screen === "turn" && first !== "" ? first : null} filter={filter} />;
  }
  const Other = Object.hasOwn(screens, screen) && has(screen) ? screens[screen as keyof typeof screens] : undefined;
  if (!Other)
    return (
      <Empty title="There is no such page">
        <p>
          <a href={to("")}>Go to the timeline</a>
        </p>
      </Empty>
    );
  return <Other key={`${screen} ${first}`} place={place} />;
}

function SignedOut() {
  return (
    <main>
      <h1 class="hidden">Backtrail</h1>
      {isHub ? <SignedOutOfHub /> : <SignedOutOfView />}
    </main>
  );
}

function SignedOutOfView() {
  return (
    <Empty title="This tab is not signed in">
      <p>
        Open the address that <code>backtrail view</code> prints: it lets one browser in. If the server has ended, run{" "}
        <code>backtrail view</code> again.
      </p>
    </Empty>
  );
}

function Lost() {
  const status = useStore(connection);
  return (
    <div class="lost" role="status">
      {status === "lost" && isHub && (
        <p>The hub does not answer. This is what it last said; the page connects again by itself.</p>
      )}
      {status === "lost" && !isHub && (
        <p>
          The server does not answer. This is what it last said; the page connects again by itself. If it has ended, run{" "}
          <code>backtrail view</code>.
        </p>
      )}
      {status === "ended" && isHub && <p>You are signed out. Reload the page to see how to sign in again.</p>}
      {status === "ended" && !isHub && (
        <p>
          The server of this page has ended, and another one has taken its place. Open the address that{" "}
          <code>backtrail view</code> printed last.
        </p>
      )}
    </div>
  );
}

function Announcer() {
  const text = useStore(announcement);
  return (
    <div class="hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}
