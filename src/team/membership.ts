/** The hub that this user's machine belongs to, and the token for it: one private file in the user's data directory. */
import { join } from "node:path";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { dataDirectory } from "../base/paths.ts";
import { ROLES, type Role } from "./levels.ts";
import { TeamProblemError } from "./problems.ts";

export interface Membership {
  v: 1;
  /** The hub's address, without a slash at its end. */
  url: string;
  token: string;
  device: string;
  person: string;
  role: Role;
  joinedAt: string;
}

export function readMembership(): Membership | undefined {
  const value = readJson(membershipFile());
  if (value === undefined) return undefined;
  if (
    isRecord(value) &&
    value["v"] === 1 &&
    ["url", "token", "device", "person"].every((key) => typeof value[key] === "string")
  )
    if (ROLES.includes(value["role"] as Role)) return value as unknown as Membership;
  throw new TeamProblemError("failed", { kind: "team-file-damaged" });
}

export function requireMembership(): Membership {
  const membership = readMembership();
  if (membership) return membership;
  throw new TeamProblemError("not-found", { kind: "no-team" });
}

export function writeMembership(membership: Membership): void {
  writeJson(membershipFile(), membership, { sync: true });
}

export function removeMembership(): void {
  removeFile(membershipFile());
}

function membershipFile(): string {
  return join(dataDirectory(), "team.json");
}
