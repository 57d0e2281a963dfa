/** Who is signed in at the hub, and the way out. */
import type { TeamMember } from "../../protocol.ts";
import { signOut } from "../data/client.ts";
import { Empty } from "../parts/states.tsx";
import { line } from "../text/visible.ts";

export function Member({ team: { person, role } }: { team: TeamMember }) {
  return (
    <>
      <span class="tag" title={role}>
        {line(person, 40)}
      </span>
      <button type="button" class="quiet" onClick={() => void signOut().then(() => location.reload())}>
        Sign out
      </button>
    </>
  );
}

export function SignedOutOfHub() {
  return (
    <Empty title="This browser is not signed in">
      <p>
        Run <code>backtrail team view</code> on a machine that belongs to the team: it opens this page with a link that
        signs one browser in. With an invitation, run <code>backtrail team join</code> first.
      </p>
    </Empty>
  );
}
