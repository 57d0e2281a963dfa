import { afterEach, beforeEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { ownHome } from "../../../test/support/own-process.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { failureOf, findRemote, withoutPassword } from "./remote.ts";
import {
  completeRequest,
  directory,
  failed,
  isDue,
  remoteState,
  requestedPush,
  requestPush,
  succeeded,
} from "./state.ts";

ownHome();

let repository: TemporaryRepository;
let workspace: Workspace;
const REMOTE = { key: "k", name: "origin" };

beforeEach(() => {
  repository = temporaryRepository();
  const found = findWorkspace(repository.path);
  if (!found) throw new Error("No workspace.");
  workspace = found;
});

afterEach(() => {
  delete process.env["BACKTRAIL_CLOCK"];
  repository.remove();
});

function at(minute: number): void {
  process.env["BACKTRAIL_CLOCK"] = new Date(Date.UTC(2026, 0, 5, 9, minute)).toISOString();
}

test("each failure in a row waits longer, a wish of the user's not at all, and success forgets them", () => {
  at(0);
  requestPush(workspace);
  const wish = requestedPush(workspace);
  if (!wish) throw new Error("No wish.");
  const pauses: number[] = [];
  let minute = 0;
  for (let i = 0; i < 8; i++) {
    failed(workspace, REMOTE, "no");
    const next = remoteState(workspace, "k")?.next ?? "";
    pauses.push((Date.parse(next) - Date.UTC(2026, 0, 5, 9, minute)) / 60_000);
    expect(isDue(wish, remoteState(workspace, "k"))).toBe(false);
    minute += pauses.at(-1) ?? 0;
    at(minute);
    expect(isDue(wish, remoteState(workspace, "k"))).toBe(true);
  }
  expect(pauses).toEqual([1, 5, 15, 60, 240, 1440, 1440, 1440]);
  failed(workspace, REMOTE, "no");
  at(minute + 1);
  requestPush(workspace);
  const again = requestedPush(workspace);
  if (!again) throw new Error("No wish.");
  expect(isDue(again, remoteState(workspace, "k"))).toBe(true);
  succeeded(workspace, REMOTE, "pushed");
  expect(remoteState(workspace, "k")).toMatchObject({ error: null, failures: 0, next: null });
});

test("a wish is taken away only by whoever fulfilled that one", () => {
  requestPush(workspace);
  const first = requestedPush(workspace);
  requestPush(workspace);
  if (first) completeRequest(workspace, first);
  const second = requestedPush(workspace);
  expect(second).toBeDefined();
  if (second) completeRequest(workspace, second);
  expect(requestedPush(workspace)).toBeUndefined();
});

test("a fetch that went well says nothing about a push that did not, and files are the user's alone", () => {
  failed(workspace, REMOTE, "no");
  succeeded(workspace, REMOTE, "fetched");
  expect(remoteState(workspace, "k")?.error?.message).toBe("no");
  expect(statSync(`${directory(workspace)}/state.json`).mode & 0o777).toBe(0o600);
  expect(statSync(directory(workspace)).mode & 0o777).toBe(0o700);
});

test("locations: by name, by address, and neither", async () => {
  repository.git("remote", "add", "origin", "https://ada:secret@example.com/x.git");
  repository.git("remote", "add", "two", "/read");
  repository.git("remote", "set-url", "--push", "two", "/write");
  expect(await findRemote(workspace, "origin")).toMatchObject({
    name: "origin",
    pushTo: "origin",
    fetchFrom: "origin",
  });
  // What is read before a push must be what is pushed to.
  expect(await findRemote(workspace, "two")).toMatchObject({ pushTo: "two", fetchFrom: "/write" });
  expect((await findRemote(workspace, "ssh://git:pw@host/x")).name).toBe("ssh://host/x");
  const before = (await findRemote(workspace, "origin")).key;
  repository.git("remote", "set-url", "origin", "https://example.com/y.git");
  expect((await findRemote(workspace, "origin")).key).not.toBe(before);
  for (const text of ["", "-x", "--upload-pack=touch x", "a\nb", "nowhere"])
    await expect(findRemote(workspace, text)).rejects.toThrow();
});

test("what the other side says is shown without passwords and escapes, and not at length", () => {
  const result = { code: 128, stdout: Buffer.alloc(0), ended: null };
  const stderr = `hint: try\nremote: \u001b[31mno\u001b[0m https://a:b@c/\nfatal: ${"x".repeat(1000)}\n`;
  const failure = failureOf({ ...result, stderr }, 5);
  const said = failure?.kind === "said" ? failure.text : "";
  expect(said).toStartWith("remote: no https://c/; fatal: xxx");
  expect(said.length).toBeLessThanOrEqual(400);
  expect(failureOf({ ...result, code: 0, stderr: "" }, 5)).toBeNull();
  expect(failureOf({ ...result, stderr: "", ended: "time" }, 5)).toEqual({ kind: "timeout", seconds: 5 });
  expect(withoutPassword("git@host:x.git and https://t@h/p")).toBe("git@host:x.git and https://h/p");
});
