import { expect, test } from "bun:test";
import fc from "fast-check";
import { touchedPaths } from "./touched-paths.ts";

const isDirectory = (path: string) => path === "/r/dir";

/** "-" for removed, "+" for written, from /r. */
function touches(command: string, cwd = "/r"): string[] {
  const sign = { write: "+", remove: "-" };
  return touchedPaths(command, cwd, isDirectory).map(
    ({ path, how, isPattern }) => `${sign[how]}${path.replace(/^\/r\//, "")}${isPattern ? " (pattern)" : ""}`,
  );
}

test.each([
  ["rm .env", ["-.env"]],
  ["rm -rf -- node_modules", ["-node_modules"]],
  ["sudo rm -f .env 2>/dev/null", ["-.env"]],
  ["rm *.log", ["-*.log (pattern)"]],
  ["mv .env .env.bak", ["-.env", "+.env.bak"]],
  ["mv a.log b.log dir", ["-a.log", "-b.log", "+dir/a.log", "+dir/b.log"]],
  ["mv a.log dir", ["-a.log", "+dir/a.log"]],
  ["mv -t dir a.log", ["-a.log", "+dir/a.log"]],
  ["cp .env.example .env", ["+.env"]],
  ["cp -r src dist/", ["+dist/src"]],
  ["sed -i 's/a/b/' .env", ["+.env"]],
  ["sed -i.bak -e 's/a/b/' -e 's/c/d/' .env other", ["+.env", "+other"]],
  ["sed -i '' 's/a/b/' .env", ["+.env"]],
  ["sed 's/a/b/' .env", []],
  ["perl -pi -e 's/a/b/' .env", ["+.env"]],
  ["touch -d yesterday build.log", ["+build.log"]],
  ["truncate -s 0 build.log", ["+build.log"]],
  ["dd if=/dev/zero of=disk.img bs=1", ["+disk.img"]],
  ["git clean -fdX", ["-/r (pattern)", "-** (pattern)"]],
  ["git clean -fdx dist", ["-dist (pattern)", "-dist/** (pattern)"]],
  ["git -C sub clean -fdx", ["-sub (pattern)", "-sub/** (pattern)"]],
  ["git clean -ndX", []],
  ["git clean -fd", []],
  ["git stash --all", ["-/r (pattern)", "-** (pattern)"]],
  ["cd sub && rm .env && cd .. && rm b.log", ["-sub/.env", "-b.log"]],
  ["cd $HOME && rm .env", []],
  ["cd $HOME && rm /r/.env", ["-.env"]],
  ["(cd sub && rm .env) && rm b.log", ["-sub/.env", "-b.log"]],
  ["bash -c 'rm .env'", ["-.env"]],
  ["echo hi > out.log", ["+out.log"]],
  ["echo hi >> 'a b.log'", ["+a b.log"]],
  ["make >build.log 2>&1", ["+build.log"]],
  ["make &> build.log", ["+build.log"]],
  ["make 2> err.log | tee -a all.log", ["+err.log", "+all.log"]],
  ["echo hi > /dev/null", []],
  ["echo hi > $OUT", []],
  ["echo 'a > b'", []],
  ["cat > .env <<'EOF'\nrm -rf everything\nEOF\nrm b.log", ["+.env", "-b.log"]],
  ["ls -la; git status; npm test", []],
  ["find . -name x | xargs rm", []],
])("%s touches %p", (command, files) => {
  expect(touches(command)).toEqual(files);
});

test("paths are resolved against the directory of the command", () => {
  expect(touches("rm ../.env x", "/r/sub")).toEqual(["-.env", "-sub/x"]);
});

test("no command makes it throw or take long", () => {
  const words = fc.constantFrom(
    "rm",
    "mv",
    "-t",
    "cd",
    "sh",
    "-c",
    "'",
    '"',
    ">",
    "<<A",
    "\n",
    "|",
    "(",
    "git",
    "clean",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), fc.string(), (parts, text) => {
      touches(`${parts.join(" ")}${text}`);
    }),
    { numRuns: 500 },
  );
});
