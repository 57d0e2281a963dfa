/** The frame of every screen: header, the screen of the address, dialogs, live regions. */
import type { ComponentType } from "preact";
import type { Topic } from "../../protocol.ts";
import { ConfirmDialog } from "../acting/confirm.tsx";
import { Proposals } from "../acting/proposals.tsx";
import { ReceiptCard } from "../acting/receipt.tsx";
import { ActivityScreen } from "../colleagues/activity.tsx";
import { SignedOutOfHub } from "../colleagues/member.tsx";
import { isHub } from "../data/hub.ts";
import { connection } from "../data/live.ts";
import { type Route, route, to } from "../data/router.ts";
import { useStore } from "../data/store.ts";
import { useQuery } from "../data/use-query.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { BlameScreen } from "../screens/blame.tsx";
import { CommitScreen } from "../screens/commit.tsx";
import { CommitsScreen } from "../screens/commits.tsx";
import { ForkScreen } from "../screens/fork.tsx";
import { ForksScreen } from "../screens/forks.tsx";
import { RepositoriesScreen } from "../screens/repositories.tsx";
import { RunScreen } from "../screens/run.tsx";
import { RunsScreen } from "../screens/runs.tsx";
import { SearchScreen } from "../screens/search.tsx";
import { SessionScreen } from "../screens/session.tsx";
import { SessionsScreen } from "../screens/sessions.tsx";
import { SubagentScreen } from "../screens/subagent.tsx";
import { TimeScreen } from "../screens/time.tsx";
import { filterOf } from "../timeline/filters.tsx";
import { TimelineScreen } from "../timeline/timeline.tsx";
import { announcement } from "./announce.ts";
import { Boundary } from "./boundary.tsx";
import { AppContext, useHas } from "./context.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help.tsx";

const STATE_TOPICS: readonly Topic[] = ["timeline", "sessions", "operations"];

const screens = {
  activity: ActivityScreen,
  time: TimeScreen,
  session: SessionScreen,
  sessions: SessionsScreen,
  search: SearchScreen,
  blame: BlameScreen,
  commits: CommitsScreen,
  commit: CommitScreen,
  forks: ForksScreen,
  fork: ForkScreen,
  runs: RunsScreen,
  run: RunScreen,
  repositories: RepositoriesScreen,
  subagent: SubagentScreen,
} satisfies Record<string, ComponentType<{ place: Route }>>;

export function App() {
  const { data: state, error, reload } = useQuery("state", {}, STATE_TOPICS);
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
  const { screen, parts } = place;
  const [first = ""] = parts;
  if (screen === "" || screen === "turn") {
    return <TimelineScreen id={screen === "turn" && first !== "" ? first : null} filter={filterOf(place)} />;
  }
  const isScreen = Object.hasOwn(screens, screen) && has(screen);
  const Other: ComponentType<{ place: Route }> | undefined = isScreen
    ? screens[screen as keyof typeof screens]
    : undefined;
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
