/**
 * An edit: entries of ours in one file, as pure functions over the file's bytes. Three kinds: hooks in a settings
 * file, a whole file, and a line in a list of ignore rules.
 */
import { changeVerified, type Editor } from "./editor.ts";
import {
  additionsOf,
  containersOf,
  leftoversOf,
  type OurHooks,
  type Presence,
  presenceOf,
  removalsOf,
} from "./hook-entries.ts";
import { UnfitDocument } from "./value.ts";

export interface Edit {
  presence(bytes: Buffer): Presence;
  /** With our entries, in a file that has none of them; null stands for no file. */
  add(bytes: Buffer | null): Buffer;
  /**
   * Without our entries. `before` is the file as it was before they came: null where there was none, undefined
   * where that isn't known. The answer null means that nothing is left of a file that was ours.
   */
  remove(bytes: Buffer, before: Buffer | null | undefined): Buffer | null;
}

export function hooksEdit(editor: Editor, ours: OurHooks): Edit {
  return {
    presence: (bytes) => presenceOf(editor.read(decode(bytes).text), ours),

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      return encode(mark, changeVerified(editor, text, additionsOf(ours)));
    },

    remove(bytes, before) {
      const { mark, text } = decode(bytes);
      const settings = editor.read(text);
      const settingsBefore = before ? readLeniently(editor, before) : undefined;
      let result = changeVerified(editor, text, removalsOf(settings, ours));
      for (const round of containersOf(settings, ours, settingsBefore)) {
        const empty = round.filter((path) => editor.isBare(result, path));
        const removals = empty.map((path) => ({ do: "remove" as const, path }));
        result = changeVerified(editor, result, removals);
      }
      if (result !== text)
        result = changeVerified(editor, result, leftoversOf(editor.read(result), ours, settingsBefore));
      const isMade = !before && result !== text && editor.isBare(result, []);
      return isMade ? null : encode(mark, result);
    },
  };
}

/** A file that holds `content` and nothing else; null where it is only to be taken out. One of another's stays. */
export function wholeFileEdit(content: string | null, isOurs: (text: string) => boolean): Edit {
  return {
    presence(bytes) {
      const text = bytes.toString("utf8");
      if (text === content) return "installed";
      return isOurs(text) ? "outdated" : "absent";
    },

    add(bytes) {
      if (bytes !== null) throw new UnfitDocument("it is somebody else's, and the hooks need a file of that name");
      if (content === null) throw new UnfitDocument("there is nothing to write into it");
      return Buffer.from(content, "utf8");
    },

    remove: (bytes) => (isOurs(bytes.toString("utf8")) ? null : bytes),
  };
}

/** `line` below a comment of ours; both at the end of the file, where they count most. */
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

/** A hundred times what the largest settings take. Reading more would keep its user waiting, and is no settings file. */
const LARGEST = 4 << 20;

export function decode(bytes: Buffer): { mark: string; text: string } {
  if (bytes.length > LARGEST) throw new UnfitDocument("it is far too large for a settings file");
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes)) throw new UnfitDocument("it is not UTF-8 text");
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
