import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { stageFork, writeFork } from "./fork.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a fork of several files", () => {
  test("comes into place whole, and a second time nothing happens", () => {
    using place = temporaryDirectory();
    mkdirSync(place.at("restore"));
    mkdirSync(place.at("sessions"));
    const staged = place.at("restore", "fork");
    const beside = [place.at("sessions", "new", "index.json"), place.at("sessions", "new", "parts", "1.json")];
    const files = beside.map((path, i) => ({ path, content: bytes(`file ${i}`) }));
    stageFork(staged, { content: bytes("talk\n"), files });
    expect(place.exists("sessions/new")).toBe(false);
    writeFork(staged, place.at("sessions"), place.at("sessions", "new.jsonl"));
    expect([place.read("sessions/new/index.json"), place.read("sessions/new/parts/1.json")]).toEqual([
      "file 0",
      "file 1",
    ]);
    expect(place.read("sessions/new.jsonl")).toBe("talk\n");
    writeFork(staged, place.at("sessions"), place.at("sessions", "new.jsonl"));
    expect(place.read("sessions/new.jsonl")).toBe("talk\n");
  });

  test("interrupted between two files, it is finished", () => {
    using place = temporaryDirectory();
    mkdirSync(place.at("restore"));
    const staged = place.at("restore", "fork");
    const path = place.at("sessions", "a.json");
    stageFork(staged, { content: bytes("talk\n"), files: [{ path, content: bytes("a") }] });
    // As if killed right after the first: its copy is in place and no longer staged.
    place.write("sessions/a.json", "a");
    writeFork(staged, place.at("sessions"), place.at("sessions", "new.jsonl"));
    expect([place.read("sessions/a.json"), place.read("sessions/new.jsonl")]).toEqual(["a", "talk\n"]);
  });

  test("no foreign file is replaced, and no link leads out of the directory", () => {
    using place = temporaryDirectory();
    mkdirSync(place.at("restore"));
    const staged = place.at("restore", "fork");
    place.write("sessions/a.json", "theirs");
    const path = place.at("sessions", "a.json");
    stageFork(staged, { content: bytes("talk\n"), files: [{ path, content: bytes("ours") }] });
    expect(() => writeFork(staged, place.at("sessions"), place.at("sessions", "new.jsonl"))).toThrow("already");
    expect([place.read("sessions/a.json"), place.exists("sessions/new.jsonl")]).toEqual(["theirs", false]);

    mkdirSync(place.at("elsewhere"));
    symlinkSync(place.at("elsewhere"), place.at("sessions", "link"));
    const other = place.at("restore", "other");
    stageFork(other, {
      content: bytes("x"),
      files: [{ path: place.at("sessions", "link", "b"), content: bytes("b") }],
    });
    expect(() => writeFork(other, place.at("sessions"), place.at("sessions", "x.jsonl"))).toThrow("outside");
    expect(place.exists("elsewhere/b")).toBe(false);
  });
});
