/** Settings files of other tools: with our entries in and out again they are byte for byte what they were, or refused. */
import { readFileSync } from "node:fs";
import { messageOf, UserError } from "../../../src/base/errors.ts";
import { hooksEdit } from "../../../src/edit/edit.ts";
import { claudeLayout, cursorLayout, geminiLayout } from "../../../src/edit/hook-layouts.ts";
import { jsonc } from "../../../src/edit/jsonc.ts";
import { inspectEdit, installEdit, uninstallEdit } from "../../../src/edit/record.ts";
import { tomlTablesEdit } from "../../../src/edit/toml-tables.ts";
import { UnsupportedDocument } from "../../../src/edit/value.ts";
import { temporaryDirectory } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

const ENTRIES = [
  { event: "SessionStart", command: "ours start" },
  { event: "Stop", command: "ours stop", timeout: 10 },
  { event: "PreToolUse", command: "ours tool", matcher: "Bash|Task" },
];
const isOurs = (command: string) => command.startsWith("ours ");
const hooks = (layout: typeof claudeLayout) => hooksEdit(jsonc, { layout, entries: ENTRIES, isOurs });

const EDITS = {
  claude: hooks(claudeLayout),
  gemini: hooks(geminiLayout),
  cursor: hooks(cursorLayout),
  toml: tomlTablesEdit({
    mark: "ours",
    isOurs: (table) => table[0] === "hooks",
    keys: ["hash"],
    wanted: () => [{ table: ["hooks", "state", "/a:stop:0:0"], key: "hash", value: "sha256:1" }],
  }),
};

const JSON_SEEDS = [
  '{\n  // mine\n  "model": "opus",\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],\n  },\n}\n',
  '{"version":1,"hooks":{"stop":[{"command":"x"}]},"permissions":{"allow":["Bash(ls)"]}}',
  '\ufeff{\r\n\t"a": [1, 2, /* two */ 3],\r\n\t"hooks": {}\r\n}\r\n',
  "{}",
  "",
];
const TOML_SEEDS = [
  'model = "o3" # mine\n\n[hooks.state."/b:stop:0:0"]\nhash = "sha256:2"\n\n[[profiles]]\nname = \'x\'\n',
  '[projects."/other"]\ntrust_level = "trusted"\n[tui]\nnotes = """\n[hooks]\n"""\n',
  "",
];

export const settings: Target = {
  name: "settings",
  cost: 4,
  async open() {
    const place = temporaryDirectory();
    const keeping = { records: place.at("records"), owner: "fuzz", holder: place.path };
    return {
      input(random) {
        const edit = random.pick(Object.keys(EDITS));
        const seed = random.pick(edit === "toml" ? TOML_SEEDS : JSON_SEEDS);
        const whole = edit !== "toml" && random.once(3);
        return labeled({ edit }, whole ? damagedJson(random, seed) : damaged(random, Buffer.from(seed)));
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const edit = EDITS[about["edit"] as keyof typeof EDITS];
        const file = place.write("settings", body);
        try {
          if (inspectEdit(file, edit) !== "absent") return;
          await installEdit(file, edit, keeping);
        } catch (error) {
          demand(
            error instanceof UserError || error instanceof UnsupportedDocument,
            `It stumbled: ${messageOf(error)}`,
          );
          demand(readFileSync(file).equals(body), "It was refused, and changed all the same.");
          return;
        }
        demand(inspectEdit(file, edit) === "installed", "What was put in is not found again.");
        await uninstallEdit(file, edit, keeping);
        demand(readFileSync(file).equals(body), "With our entries out again it is not what it was.");
      },
      close: () => place.remove(),
    };
  },
};
