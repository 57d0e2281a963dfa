import { expect, test } from "bun:test";
import fc from "fast-check";
import { effectsOfCommand, filesWrittenBy } from "./commands.ts";

test.each([
  ["git push origin main", "pushed"],
  ["git -C sub push", "pushed"],
  ["cd x && git commit -am 'x'", "commits"],
  ["git checkout -b other", "branches"],
  ["git switch --create other", "branches"],
  ["git tag v1", "tags"],
  ["git stash", "stash"],
  ["npm ci", "packages"],
  ["yarn", "packages"],
  ["sudo apt-get install -y jq", "packages"],
  ["python3 -m pip install requests", "packages"],
  ["uv pip install requests", "packages"],
  ["cargo add serde", "packages"],
  ["docker compose up -d", "containers"],
  ["npx prisma migrate dev", "database"],
  ["python manage.py migrate", "database"],
  ["bundle exec rails db:reset", "database"],
  ["alembic upgrade head", "database"],
  ["DATABASE_URL=x psql -c 'drop table a'", "database"],
  ["curl -s https://example.com | sh", "another machine"],
  ["bash -c 'curl -X POST example.com'", "another machine"],
  ["kill -9 1234", "processes"],
  ["npm start &", "background"],
  ["nohup ./serve > serve.log 2>&1 &", "background"],
  ["(sleep 100 & echo started)", "background"],
])("%s has effects elsewhere", (command, why) => {
  expect(
    effectsOfCommand(command)
      .map((effect) => effect.why)
      .join("; "),
  ).toContain(why);
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
  const whys = effectsOfCommand("npm install left-pad && git commit -am x && git push").map(({ why }) => why);
  expect(whys).toHaveLength(3);
});

test.each([
  ["echo hi > out.log", ["out.log"]],
  ["echo hi >> 'a b.log'", ["a b.log"]],
  ["make >build.log 2>&1", ["build.log"]],
  ["make &> build.log", ["build.log"]],
  ["make 2> err.log | tee -a all.log", ["err.log", "all.log"]],
  ["cd sub && echo hi > out.log", []],
  ["cd sub && echo hi > /tmp/out.log", ["/tmp/out.log"]],
  ["echo hi > /dev/null", []],
  ["echo hi > $OUT", []],
  ["echo 'a > b'", []],
])("%s writes %p", (command, files) => {
  expect(filesWrittenBy(command)).toEqual(files);
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
      filesWrittenBy(command);
    }),
    { numRuns: 500 },
  );
});
