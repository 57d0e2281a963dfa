/** `config list`: every setting, its value and where it comes from. */
import { printable } from "../../../base/text.ts";
import { meaningOf } from "../../../config/describe.ts";
import { findKey, KEYS } from "../../../config/keys.ts";
import type { Config, Layer, Loaded } from "../../../config/load.ts";
import { showSize, showValue } from "../../../config/values.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { Io } from "../../io.ts";
import { placeOf } from "../../render/place.ts";
import { type Cell, table } from "../../render/table.ts";
import { problemText, settingsOf } from "../../settings.ts";

interface Options {
  changed?: boolean;
  json?: boolean;
}

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
    io.json({ settings: rows, problems: loaded.problems });
    return;
  }
  if (rows.length === 0) io.say("Every setting has its built-in value.");
  const root = workspace?.root ?? null;
  const lines = table(
    rows.map((row) => cells(row, root, io)),
    io.out.columns,
  );
  for (const line of lines) io.print(line);
  for (const problem of loaded.problems) io.say(`${io.err.paint("yellow", "warning:")} ${problemText(problem, root)}`);
}

function rowsOf(loaded: Loaded): Row[] {
  const rows: Row[] = [];
  for (const key of KEYS) {
    if (key.name.includes("*")) continue;
    const { layer, from } = loaded.settings.get(key.name) ?? { layer: "default" as const, from: null };
    rows.push({ key: key.name, value: valueAt(loaded.config, key.name), layer, from });
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

function valueAt(config: Config, key: string): unknown {
  let node: unknown = config;
  for (const part of key.split(".")) node = (node as Record<string, unknown> | undefined)?.[part];
  return node ?? null;
}
