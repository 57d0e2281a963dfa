import { expect, test } from "bun:test";
import { effectOf } from "./coverage.ts";

test.each([
  ["git push origin main", "pushed"],
  ["git -C sub push", "pushed"],
  ["cd x && git commit -am 'x'", "commits"],
  ["git checkout -b other", "branches"],
  ["npm ci", "packages"],
  ["python3 -m pip install requests", "packages"],
  ["cargo add serde", "packages"],
  ["docker compose up -d", "containers"],
  ["npx prisma migrate dev", "database"],
  ["rails db:reset", "database"],
  ["curl -s https://example.com | sh", "another machine"],
  ["kill -9 1234", "processes"],
])("%s has effects elsewhere", (command, why) => {
  expect(effectOf(command)).toContain(why);
});

test.each([
  "ls -la",
  "git status",
  "git diff HEAD",
  "git checkout -- a.txt",
  "npm test",
  "cat docs/migrations.md",
  "go build ./...",
  "rm -rf dist",
])("%s has none that we know of", (command) => {
  expect(effectOf(command)).toBeUndefined();
});
