/** Proposes where an agent keeps its transcripts, from the path of one. */
import { relative, sep } from "node:path";
import { hexDigest } from "../../../base/digest.ts";
import { isInside } from "../../../base/paths.ts";
import type { Spelling, TranscriptSection } from "../../contract/profile.ts";
import { placeOf } from "../../generic/place.ts";
import type { Doubt } from "./doubts.ts";

export interface PlaceProposal extends Pick<TranscriptSection, "directory" | "place" | "spelling" | "new_id"> {
  doubts: Doubt[];
}

/** How agents spell a project's path in the name of a directory; the profile's default first. */
const SPELLINGS: readonly (Spelling | undefined)[] = [
  undefined,
  { keep: "A-Za-z0-9._-", other: "-" },
  { keep: "A-Za-z0-9_-", other: "-" },
  { keep: "a-z0-9._-", other: "-", runs: true, lower: true, longest: 40 },
  { keep: "A-Za-z0-9._-", other: "_" },
  { keep: "A-Za-z0-9", other: "_" },
  { keep: "A-Za-z0-9._-", other: "-", runs: true },
  { keep: "A-Za-z0-9", other: "-", runs: true },
];

export function proposePlace(
  path: string,
  known: { home: string; cwd: string | null; session: string | null; isNamed: boolean; fallback: string },
): PlaceProposal {
  const { home, cwd, session } = known;
  if (!isInside(home, path)) {
    return { directory: known.fallback, doubts: [{ kind: "outside-home", key: "transcript.directory", path }] };
  }
  const names = relative(home, path).split(sep);
  const partsBy = (spelling: Spelling | undefined) => names.map((name) => patternOf(name, cwd, session, spelling));
  // If no spelling explains every part, -1 chooses the last one.
  const spelling = SPELLINGS.at(SPELLINGS.findIndex((each) => !partsBy(each).includes(null)));
  return proposal(names, partsBy(spelling), spelling, known);
}

function proposal(
  names: readonly string[],
  parts: readonly (string | null)[],
  spelling: Spelling | undefined,
  { session, isNamed }: { session: string | null; isNamed: boolean },
): PlaceProposal {
  const unexplained = parts.indexOf(null);
  const firstVariable = parts.findIndex((part) => part === null || part.includes("{"));
  const directory = names.slice(0, Math.max(1, firstVariable < 0 ? names.length - 1 : firstVariable)).join("/");
  const doubts: Doubt[] = [];
  const form = idForm(session);
  if (session !== null && form === null) doubts.push({ kind: "guess", key: "transcript.new_id", value: "{uuid}" });
  const more = form === null || form === "{uuid}" ? {} : { new_id: form };
  const place = unexplained < 0 && firstVariable > 0 ? parts.slice(firstVariable).join("/") : undefined;
  if (place?.includes("{session}")) {
    const isSpelled = spelling !== undefined && /\{(project|folder)\}/.test(place);
    return { directory, place, ...(isSpelled ? { spelling } : {}), ...more, doubts };
  }
  // A payload that names the file is enough to read it.
  if (!isNamed)
    doubts.push({ kind: "place-unknown", key: "transcript.place", part: names[unexplained] ?? names.at(-1) ?? "" });
  return { directory, ...more, doubts };
}

/** The name with placeholders; null if it has a part that is neither fixed nor explained. */
function patternOf(
  name: string,
  cwd: string | null,
  session: string | null,
  spelling: Spelling | undefined,
): string | null {
  let rest = name;
  if (session !== null && rest.includes(session)) rest = rest.replaceAll(session, "{session}");
  if (cwd !== null) {
    const digest = hexDigest("sha256", cwd);
    rest = rest.replace(/(?<![0-9a-f])[0-9a-f]{6,64}(?![0-9a-f])/g, (hex) =>
      digest.startsWith(hex) ? `{sha256:${hex.length}}` : hex,
    );
    const section = { spelling } as TranscriptSection;
    for (const kind of ["{project}", "{folder}"]) {
      const spelled = placeOf(kind, section, cwd, "");
      const isWhole = kind === "{project}" || rest.includes("{sha256");
      if (spelled.length >= 3 && isWhole && !rest.includes(kind)) rest = rest.replace(spelled, () => kind);
    }
  }
  const fixed = rest.replace(/\{[a-z0-9:]+\}/g, "");
  const isUnexplained = /\d{4}|[0-9a-f]{8}/.test(fixed) || !/^[A-Za-z0-9._-]*$/.test(fixed);
  return isUnexplained ? null : rest;
}

/** The form of the agent's session ids. */
function idForm(session: string | null): string | null {
  if (session === null) return null;
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(session)?.[0];
  if (uuid !== undefined) return session.replace(uuid, "{uuid}");
  return /^\d{13}_[a-z0-9]{5}$/.test(session) ? "{millis_random}" : null;
}
