import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../test/support/own-process.ts";
import { isDestructive } from "./destructive.ts";

const exists = (path: string) => path === "there" || path === "dir/there";

const DESTROY = [
  "rm x",
  "rm -rf build",
  "/bin/rm x",
  "cd src && rm x",
  "true; rm x",
  "a | xargs rm",
  "find . -name x | xargs -n 1 rm -f",
  "ls | xargs -I{} rm {}",
  "for f in *; do rm $f; done",
  "if test -e x; then rm x; fi",
  "if ! rm x; then echo; fi",
  "while read f; do mv $f y; done",
  "sudo rm x",
  "sudo -u bob rm x",
  "timeout 5 git reset --hard",
  "nice -n 5 rm x",
  "env A=1 rm x",
  "A=1 B=2 rm x",
  "(rm x)",
  "echo $(rm x)",
  "echo `rm x`",
  "{ rm x; }",
  "echo a\nrm x",
  "\\rm x",
  "'rm' x",
  "mv a b",
  "git reset --hard",
  "git -C dir checkout .",
  "git -c a.b=c restore x",
  "git --no-pager stash",
  "git clean -fd",
  "git pull",
  "git cherry-pick abc",
  "git rebase -i main",
  "npm uninstall left-pad",
  "pnpm remove x",
  "yarn remove x",
  "pip uninstall -y x",
  "cargo remove x",
  "find . -delete",
  "find . -name '*.o' -exec rm {} +",
  "sed -i s/a/b/ x",
  "sed -i.bak s/a/b/ x",
  "perl -pi -e s/a/b/ x",
  "truncate -s 0 x",
  "dd if=/dev/zero of=x",
  "bash -c 'rm x'",
  "sh -ec 'cd y && rm x'",
  "bash -c 'echo > there'",
  "echo hi > there",
  "echo hi >there",
  "echo hi>there",
  "echo hi >| there",
  "cmd &> there",
  "cmd 2> there",
  "cat <<EOF > dir/there\nx\nEOF",
  "echo hi > 'there'",
  "echo x | tee there",
  "cp a there",
  "cp -f a b",
  "ln -sf a b",
  `rm ${"x".repeat(200_000)}`,
];

const HARMLESS = [
  "",
  "ls -la",
  "cat rm",
  "echo rm",
  "grep -r 'rm -rf' .",
  "git status",
  "git log --oneline",
  "git diff HEAD",
  "git add .",
  "git commit -m 'rm it'",
  "npm install",
  "npm run remove-nothing",
  "pip install x",
  "find . -name x",
  "sed -n 1,5p x",
  "echo hi > new",
  "echo hi >> there",
  "cmd > /dev/null 2>&1",
  "cmd 2>&1",
  "cmd 1>&2",
  "cat < there",
  "echo x | tee -a there",
  "echo x | tee new",
  "cp a new",
  "ln -s a new",
  "bash script.sh",
  "bash -c 'ls'",
  "timeout 5 ls",
  "sudo ls",
  "node -e 'console.log(1)'",
];

test("what can destroy work is known", () => {
  expect(DESTROY.filter((command) => !isDestructive(command, exists))).toEqual([]);
});

test("what cannot is let by", () => {
  expect(HARMLESS.filter((command) => isDestructive(command, exists))).toEqual([]);
});

test("any text is answered, and at once", () => {
  const piece = fc.constantFrom(
    "'",
    '"',
    "\\",
    "$(",
    ")",
    ">",
    ">>",
    "|",
    "&",
    ";",
    " ",
    "\n",
    "rm",
    "sudo ",
    "x",
    "`",
    "1",
    "{",
    "}",
  );
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 60 }), (command) => {
      expect(typeof isDestructive(command, () => false)).toBe("boolean");
    }),
    runs(300),
  );
  const began = performance.now();
  for (const text of ["sudo ", "> ", "a;", "'", "sudo x "]) isDestructive(text.repeat(5_000), () => false);
  expect(performance.now() - began).toBeLessThan(5_000);
});
