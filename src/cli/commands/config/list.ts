/** `config list`: lists every setting with its value and its source. */

import { printable } from "../../../base/text.ts";
import { findKey, KEYS } from "../../../config/keys.ts";
import { type Layer, type Loaded, type SettingProblem, valueAt } from "../../../config/load.ts";
import { showSize, showValue } from "../../../config/values.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { widthOf, wrapAfter } from "../../render/layout/text.ts";
import { meaningOf, settingDefectText } from "../../render/words/setup/settings.ts";
import { settingsOf, settingsWarnings } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { configListCommand } from "./commands.ts";

const MIN_MEANING = 40;

type Options = OptionsOf<typeof configListCommand>;

interface Row {
  key: string;
  value: unknown;
  layer: Layer;
  from: string | null;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = findWorkspace(io.cwd);
  const loaded = settingsOf(workspace);
  const rows = rowsOf(loaded).filter((row) => !options.changed || row.layer !== "default");
  if (options.json) {
    io.json({ settings: rows, problems: loaded.problems.map(problemJson) });
    return;
  }
  if (rows.length === 0) io.say("All settings have their default values.");
  const root = workspace?.root ?? null;
  for (const line of linesOf(rows, root, io)) io.print(line);
  for (const warning of settingsWarnings(workspace, loaded.problems))
    io.say(`${io.err.paint("yellow", "warning:")} ${warning}`);
}

function problemJson({ defect, ...problem }: SettingProblem) {
  return { ...problem, message: settingDefectText(defect), defect };
}

/** In a narrow terminal, a setting's meaning is on a separate line. */
function linesOf(rows: readonly Row[], root: string | null, io: Io): string[] {
  const { columns, paint } = io.out;
  const all = rows.map((row) => cells(row, root, io));
  const width = Math.max(
    0,
    ...table(
      all.map((row) => row.slice(0, 2)),
      Number.POSITIVE_INFINITY,
    ).map(widthOf),
  );
  if (columns - width - 2 >= MIN_MEANING) return table(all, columns);
  const short = table(
    all.map((row) => row.slice(0, 2)),
    columns,
  );
  return all.flatMap((row, i) => [
    short[i] ?? "",
    ...wrapAfter("    ", row[2]?.text ?? "", columns).map((line) => paint("dim", line)),
  ]);
}

function rowsOf(loaded: Loaded): Row[] {
  const rows: Row[] = [];
  for (const key of KEYS) {
    if (key.name.includes("*")) continue;
    const { layer, from } = loaded.settings.get(key.name) ?? { layer: "default" as const, from: null };
    rows.push({ key: key.name, value: valueAt(loaded.config, key.name) ?? null, layer, from });
  }
  for (const setting of loaded.settings.values()) {
    if (!rows.some((row) => row.key === setting.key)) rows.push(setting);
  }
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function cells(row: Row, root: string | null, io: Io): Cell[] {
  const { paint } = io.out;
  const isDefault = row.layer === "default";
  return [
    { text: row.key },
    { text: shown(row) || "(unset)", paint: (text) => paint(isDefault ? "dim" : "bold", text) },
    { text: isDefault ? meaningOf(row.key) : originOf(row, root), paint: (text) => paint("dim", text) },
  ];
}

function shown(row: Row): string {
  const isSize = findKey(row.key)?.kind === "size" && typeof row.value === "number";
  return isSize ? showSize(row.value as number) : printable(showValue(row.value));
}

function originOf(row: Row, root: string | null): string {
  if (row.from === null || row.layer === "environment") return row.from ?? row.layer;
  return `${row.layer}: ${placeOf(row.from, root)}`;
}
