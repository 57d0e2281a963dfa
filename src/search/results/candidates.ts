/** Asks the index for the documents that may match a query, and counts them. */
import { homeDirectory } from "../../base/paths.ts";
import type { Value } from "../index/database-types.ts";
import { asDocument, CHANGES, type Document } from "../index/documents.ts";
import { documentsMatching } from "../index/matching.ts";
import { FIELDS } from "../index/schema.ts";
import type { SearchIndex } from "../index/store.ts";
import { type Expression, expressionOf } from "../query/narrow.ts";
import type { Filters, Query } from "../query/parse.ts";

interface Condition {
  sql: string;
  values: Value[];
}

/** The part of a query that SQLite answers. */
export class Candidates {
  readonly #index: SearchIndex;
  readonly #expression: Expression | null;
  readonly #where: Condition;

  /** With `root`, only documents of that repository. */
  constructor(index: SearchIndex, { terms, filters }: Query, root: string | null) {
    this.#index = index;
    this.#expression = expressionOf(terms);
    this.#where = conditionOf(filters, root);
  }

  /** The newest documents first; all of them without a limit. */
  newest(limit: number | null): Document[] {
    const found = this.#tables().flatMap((from) => {
      const sql = `select d.* from ${from.sql} and ${this.#where.sql} order by d.time desc, d.id desc`;
      const bounded = limit === null ? sql : `${sql} limit ${limit}`;
      return this.#index.database.statement(bounded).all(...from.values, ...this.#where.values);
    });
    const documents = found.map(asDocument).sort((a, b) => b.time - a.time || b.id - a.id);
    return limit === null ? documents : documents.slice(0, limit);
  }

  /** The shortest documents of the most telling fields first. */
  likeliest(limit: number): Document[] {
    const weights = "case d.field when 0 then 1 when 7 then 2 when 1 then 2 when 4 then 8 else 4 end";
    const found = this.#tables().flatMap((from) => {
      const sql = `select d.* from ${from.sql} and ${this.#where.sql} order by d.length * ${weights} limit ${limit}`;
      return this.#index.database.statement(sql).all(...from.values, ...this.#where.values);
    });
    return found.map(asDocument);
  }

  count(): number {
    const { sql: where, values } = this.#where;
    return this.#tables().reduce((sum, from) => {
      if (from.count !== null && where === "1") return sum + from.count;
      const row = this.#index.database
        .statement(`select count(*) as count from ${from.sql} and ${where}`)
        .get(...from.values, ...values);
      return sum + (row as { count: number }).count;
    }, 0);
  }

  #found: (Condition & { count: number | null })[] | undefined;

  /** One table for each segment. `count` is null if only `docs` knows which of the documents are left. */
  #tables(): (Condition & { count: number | null })[] {
    if (this.#expression === null) return [{ sql: "docs d where 1", values: [], count: null }];
    const expression = this.#expression;
    this.#found ??= this.#index.reading(() => this.#matching(expression));
    return this.#found;
  }

  #matching(expression: Expression) {
    return this.#index.segments.list().flatMap((segment) => {
      const ids = documentsMatching(this.#index.database, segment, expression);
      if (ids.length === 0) return [];
      // Goes through the documents in question, whatever SQLite thinks of the other conditions.
      const sql = "json_each(?) w cross join docs d on d.id = w.value where 1";
      return { sql, values: [`[${ids.join()}]`], count: segment.removed > 0 ? null : ids.length };
    });
  }
}

function conditionOf(filters: Filters, root: string | null): Condition {
  const conditions: Condition[] = [];
  const { fields, since, before } = filters;
  if (fields.length > 0)
    conditions.push({ sql: `d.field in (${fields.map((field) => FIELDS.indexOf(field)).join()})`, values: [] });
  if (since) conditions.push({ sql: "d.time >= ?", values: [since.getTime()] });
  if (before) conditions.push({ sql: "d.time < ?", values: [before.getTime()] });
  const whole = conversationCondition(filters, root);
  if (whole)
    conditions.push({
      sql: `d.conversation in (select id from conversations where ${whole.sql})`,
      values: whole.values,
    });
  return {
    sql: conditions.length === 0 ? "1" : conditions.map(({ sql }) => sql).join(" and "),
    values: conditions.flatMap(({ values }) => values),
  };
}

function conversationCondition(filters: Filters, root: string | null): Condition | null {
  const { agents, repositories, sessions, models, states } = filters;
  const parts = [
    anyOf(agents, (agent) => ({ sql: "agent like ? escape '\\'", values: [`${escaped(agent)}%`] })),
    anyOf(sessions, (session) => ({ sql: "session like ? escape '\\'", values: [`${escaped(session)}%`] })),
    anyOf(models, (model) => ({ sql: "model like ? escape '\\'", values: [`%${escaped(model)}%`] })),
    anyOf(repositories, repositoryCondition),
    ...(root === null ? [] : [{ sql: "repository = ?", values: [root] }]),
    ...(states.includes("subagent") ? [{ sql: "part not in ('', ?)", values: [CHANGES] }] : []),
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  return { sql: parts.map(({ sql }) => sql).join(" and "), values: parts.flatMap(({ values }) => values) };
}

/** A path, or the last part of one. */
function repositoryCondition(repository: string): Condition {
  const path = repository.startsWith("~/") ? homeDirectory() + repository.slice(1) : repository;
  const end = path.replace(/(?<!\/)\/+$/, "");
  return { sql: "(repository = ? or repository like ? escape '\\')", values: [end, `%/${escaped(end)}`] };
}

function anyOf(values: readonly string[], condition: (value: string) => Condition): Condition | null {
  const all = values.map(condition);
  if (all.length === 0) return null;
  return { sql: `(${all.map(({ sql }) => sql).join(" or ")})`, values: all.flatMap((one) => one.values) };
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
