/**
 * An edit adds our entries to one file and removes them, as pure functions over the file's bytes. There are three
 * kinds: hooks in a settings file, a whole file, and a line in a list of ignore rules.
 */
import { changeAndVerify, type Editor } from "./editor.ts";
import {
  additionsOf,
  containersOf,
  leftoversOf,
  type OurHooks,
  type Presence,
  presenceOf,
  removalsOf,
} from "./hook-entries.ts";
import { UnsupportedDocument } from "./value.ts";

export interface Edit {
  presence(bytes: Buffer): Presence;
  /** Adds our entries to a file that has none of them; null means that there is no file. */
  add(bytes: Buffer | null): Buffer;
  /**
   * Removes our entries. `before` is the file before our edit: null if there was no file, undefined if unknown.
   * Returns null if the file was ours and nothing is left in it.
   */
  remove(bytes: Buffer, before: Buffer | null | undefined): Buffer | null;
  /** The file is a program. */
  readonly executable?: boolean;
}

export function hooksEdit(editor: Editor, ours: OurHooks): Edit {
  return {
    presence: (bytes) => presenceOf(editor.read(decode(bytes).text), ours),

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      return encode(mark, changeAndVerify(editor, text, additionsOf(ours)));
    },

    remove(bytes, before) {
      const { mark, text } = decode(bytes);
      const settings = editor.read(text);
      const settingsBefore = before ? readLeniently(editor, before) : undefined;
      let result = changeAndVerify(editor, text, removalsOf(settings, ours));
      for (const round of containersOf(settings, ours, settingsBefore)) {
        const empty = round.filter((path) => editor.isEmpty(result, path));
        const removals = empty.map((path) => ({ do: "remove" as const, path }));
        result = changeAndVerify(editor, result, removals);
      }
      if (result !== text)
        result = changeAndVerify(editor, result, leftoversOf(editor.read(result), ours, settingsBefore));
      const isMade = !before && result !== text && editor.isEmpty(result, []);
      return isMade ? null : encode(mark, result);
    },
  };
}

/** Owns a file that contains only `content`; null only removes the file. A file that is not ours is never touched. */
export function wholeFileEdit(content: string | null, isOurs: (text: string) => boolean): Edit {
  return {
    presence(bytes) {
      const text = bytes.toString("utf8");
      if (text === content) return "installed";
      return isOurs(text) ? "outdated" : "absent";
    },

    add(bytes) {
      if (bytes !== null) throw new UnsupportedDocument({ kind: "not-ours" });
      if (content === null) throw new UnsupportedDocument({ kind: "nothing-to-write" });
      return Buffer.from(content, "utf8");
    },

    remove: (bytes) => (isOurs(bytes.toString("utf8")) ? null : bytes),
  };
}

/** A script that runs one command of ours; null only removes it. Another tool's script is never touched. */
export function scriptEdit(command: string | null, isOurs: (command: string) => boolean): Edit {
  const content = command === null ? null : `#!/bin/sh\n${SCRIPT_COMMENT}\n${command}\n`;
  return {
    ...wholeFileEdit(
      content,
      (text) => text.startsWith("#!/bin/sh\n") && isOurs(text.trimEnd().split("\n").at(-1) ?? ""),
    ),
    executable: true,
  };
}

const SCRIPT_COMMENT = "# Backtrail records this agent's turns; `backtrail disable` removes this file.";

/** Appends `line` below our comment, at the end of the file, because the last matching ignore rule wins. */
export function lineEdit(comment: string, line: string): Edit {
  const block = `${comment}\n${line}\n`;
  return {
    presence: (bytes) => (blockAt(bytes.toString("latin1"), block) < 0 ? "absent" : "installed"),

    add(bytes) {
      const text = bytes?.toString("latin1") ?? "";
      const gap = text === "" || text.endsWith("\n") ? "" : "\n";
      return Buffer.from(text + gap + block, "latin1");
    },

    remove(bytes, before) {
      const text = bytes.toString("latin1");
      const at = blockAt(text, block);
      if (at < 0) return bytes;
      const left = text.slice(0, at) + text.slice(at + block.length);
      if (left === "" && !before) return null;
      const isBefore = before && left === `${before.toString("latin1")}\n`;
      return isBefore ? before : Buffer.from(left, "latin1");
    },
  };
}

function blockAt(text: string, block: string): number {
  if (text.startsWith(block)) return 0;
  const at = text.indexOf(`\n${block}`);
  return at < 0 ? -1 : at + 1;
}

const BYTE_ORDER_MARK = "\ufeff";

/** A hundred times the size of the largest real settings file. Reading a larger file would block the user. */
const MAX_BYTES = 4 << 20;

export function decode(bytes: Buffer): { mark: string; text: string } {
  if (bytes.length > MAX_BYTES) throw new UnsupportedDocument({ kind: "too-large" });
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes)) throw new UnsupportedDocument({ kind: "not-utf8" });
  return text.startsWith(BYTE_ORDER_MARK) ? { mark: BYTE_ORDER_MARK, text: text.slice(1) } : { mark: "", text };
}

export function encode(mark: string, text: string): Buffer {
  return Buffer.from(mark + text, "utf8");
}

function readLeniently(editor: Editor, bytes: Buffer) {
  try {
    return editor.read(decode(bytes).text);
  } catch {
    return undefined;
  }
}
