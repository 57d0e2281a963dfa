/** The people of a team: their roles, and which repositories they may read at which level. */
import { LEVELS, type Level, levelNumber, type Role } from "../../team/levels.ts";
import { type Database, type Query, sqlState } from "../database/connect.ts";
import { HubProblemError } from "../problems.ts";
import { noteAction, scopesOf, unknownPerson } from "./tokens.ts";

export interface Person {
  name: string;
  email: string | null;
  role: Role;
  /** The level for all repositories; null if only the granted ones are readable. */
  readsAll: Level | null;
  grants: { repository: string; level: Level }[];
  devices: number;
}

const UNIQUE_VIOLATION = "23505";

export async function addPerson(
  database: Database,
  { name, email, role, readsAll }: Pick<Person, "name" | "email" | "role" | "readsAll">,
): Promise<void> {
  if (!/^[^\p{Cc}\s][^\p{Cc}]{0,99}$/u.test(name)) throw new HubProblemError("usage", { kind: "not-a-person", name });
  try {
    await database.asOwner(async (query) => {
      await query(
        "INSERT INTO people (name, email, role, reads_all) VALUES ($1, $2, $3, $4::smallint)",
        name,
        email?.toLowerCase() ?? null,
        role,
        readsAll === null ? null : levelNumber(readsAll),
      );
      await noteAction(query, "add", { person: name, role, reads: readsAll });
    });
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new HubProblemError("usage", { kind: "person-exists", name });
  }
}

export async function findPerson(database: Database, name: string): Promise<Person | undefined> {
  return (await listPeople(database)).find((person) => person.name === name);
}

export async function listPeople(database: Database): Promise<Person[]> {
  return database.asOwner(async (query) => {
    const people = await query<{
      id: number;
      name: string;
      email: string | null;
      role: Role;
      reads_all: number | null;
      devices: number;
    }>(
      `SELECT p.id, p.name, p.email, p.role, p.reads_all::integer,
         (SELECT count(*) FROM devices d WHERE d.person_id = p.id AND d.revoked_at IS NULL)::integer AS devices
       FROM people p WHERE p.removed_at IS NULL ORDER BY p.name`,
    );
    const grants = await query<{ person_id: number; repository: string; level: number }>(
      `SELECT g.person_id, r.name AS repository, g.level::integer FROM grants g JOIN repositories r ON r.id = g.repository_id
       ORDER BY r.name`,
    );
    return people.map(({ id, name, email, role, reads_all, devices }) => ({
      name,
      email,
      role,
      readsAll: reads_all === null ? null : levelAt(reads_all),
      grants: grants
        .filter((grant) => grant.person_id === id)
        .map(({ repository, level }) => ({ repository, level: levelAt(level) })),
      devices,
    }));
  });
}

/** Lets a person read a repository, or all of them, up to a level; null takes the right away. */
export async function grant(
  database: Database,
  person: string,
  repository: string | "all",
  level: Level | null,
): Promise<void> {
  const chosen = level === null ? null : levelNumber(level);
  await database.asOwner(async (query) => {
    const id = await personId(query, person);
    if (repository === "all") {
      await query("UPDATE people SET reads_all = $2::smallint WHERE id = $1::integer", id, chosen);
      if (chosen === null) await query("DELETE FROM grants WHERE person_id = $1::integer", id);
    } else if (chosen === null) {
      await query(
        "DELETE FROM grants WHERE person_id = $1::integer AND repository_id = (SELECT id FROM repositories WHERE name = $2)",
        id,
        repository,
      );
    } else {
      await query("SELECT name_repositories(ARRAY[$1])", repository);
      await query(
        `INSERT INTO grants (person_id, repository_id, level) SELECT $1::integer, id, $3::smallint FROM repositories WHERE name = $2
         ON CONFLICT (person_id, repository_id) DO UPDATE SET level = excluded.level`,
        id,
        repository,
        chosen,
      );
    }
    await noteAction(query, "grant", { person, repository, level });
  });
}

/** Holds at once, for the machines that the person has joined with too. */
export async function setRole(database: Database, person: string, role: Role): Promise<void> {
  await database.asOwner(async (query) => {
    const id = await personId(query, person);
    await query("UPDATE people SET role = $2 WHERE id = $1::integer", id, role);
    await query(
      "UPDATE devices SET scopes = $2::text[] WHERE person_id = $1::integer",
      id,
      `{${scopesOf(role).join(",")}}`,
    );
    await noteAction(query, "role", { person, role });
  });
}

export function levelAt(number: number): Level {
  const level = LEVELS[number];
  if (!level) throw new Error(`There is no level ${number}.`);
  return level;
}

async function personId(query: Query, name: string): Promise<number> {
  const [row] = await query<{ id: number }>("SELECT id FROM people WHERE name = $1 AND removed_at IS NULL", name);
  if (!row) throw unknownPerson(name);
  return row.id;
}
