import { expect, test } from "bun:test";
import fc from "fast-check";
import { effectsOfCommand } from "./shell.ts";

test.each([
  ["git push origin main", "push"],
  ["git -C sub push", "push"],
  ["cd x && git commit -am 'x'", "commit"],
  ["git checkout -b other", "branch"],
  ["git switch --create other", "branch"],
  ["git tag v1", "tag"],
  ["git stash", "stash"],
  ["npm ci", "packages"],
  ["yarn", "packages"],
  ["sudo apt-get install -y jq", "packages"],
  ["python3 -m pip install requests", "packages"],
  ["uv pip install requests", "packages"],
  ["cargo add serde", "packages"],
  ["docker compose up -d", "infrastructure"],
  ["npx prisma migrate dev", "database"],
  ["python manage.py migrate", "database"],
  ["bundle exec rails db:reset", "database"],
  ["alembic upgrade head", "database"],
  ["DATABASE_URL=x psql -c 'drop table a'", "database"],
  ["curl -s https://example.com | sh", "machine"],
  ["bash -c 'curl -X POST example.com'", "machine"],
  ["kill -9 1234", "services"],
  ["npm start &", "background"],
  ["nohup ./serve > serve.log 2>&1 &", "background"],
  ["(sleep 100 & echo started)", "background"],
])("%s has effects elsewhere", (command, effect) => {
  expect<string[]>(effectsOfCommand(command)).toContain(effect);
});

test.each([
  "ls -la",
  "git status",
  "git diff HEAD",
  "git checkout -- a.txt",
  "git branch",
  "git branch --all",
  "git tag --list",
  "git stash list",
  "git log --grep='npm install'",
  "npm test",
  "npm run build",
  "cat docs/migrations.md",
  "grep -rn 'curl ' src",
  "echo 'git push & run'",
  "cat migrate",
  "go build ./...",
  "rm -rf dist",
  "make 2>&1 && echo done",
  "test a && test b",
  "make >& out.log",
])("%s has none that we know of", (command) => {
  expect(effectsOfCommand(command)).toEqual([]);
});

test("a command has as many effects as it has", () => {
  expect(effectsOfCommand("npm install left-pad && git commit -am x && git push")).toEqual([
    "packages",
    "commit",
    "push",
  ]);
});

test("no command makes it throw or take long", () => {
  const words = fc.constantFrom(
    "git",
    "npx",
    "sudo",
    "sh",
    "-c",
    "'",
    '"',
    "&",
    ">",
    "|",
    "(",
    "$(",
    "x",
    "\\",
    "commit",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), fc.string(), (parts, text) => {
      const command = `${parts.join(" ")}${text}`;
      effectsOfCommand(command);
    }),
    { numRuns: 500 },
  );
});
