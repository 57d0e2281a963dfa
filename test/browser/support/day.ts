/** A recorded day of work: two sessions, a rewind, an undone turn, a saved state, a commit, a fork. */
import { bash, edit, ScriptedClaude, write } from "../../support/index.ts";
import { type TemporaryRepository, temporaryRepository } from "../../support/repository.ts";
import { startView } from "../../support/view/server.ts";
import { open } from "./browser.ts";

const CART = `import { price } from "./price.js";

export function total(items) {
  let sum = 0;
  for (const item of items) sum += price(item.net) * item.count;
  return sum;
}
`;

export interface Day extends Disposable {
  repository: TemporaryRepository;
  agent: ScriptedClaude;
}

/** The repository as the agents found it, with recording enabled. */
export async function freshDay(): Promise<Day> {
  const repository = temporaryRepository({ empty: true });
  repository.write("src/price.js", "export const price = (net) => net;\n");
  repository.write("src/cart.js", CART);
  repository.write("README.md", "# Shop\n\nA small shop.\n");
  repository.write(".gitignore", ".env\nbuild.log\n");
  repository.write(".env", "KEY=secret\n");
  repository.commit("Start the shop");
  const enabled = await repository.run(["enable", "--agent", "claude-code"]);
  if (enabled.code !== 0) throw new Error(enabled.stderr);
  return { repository, agent: new ScriptedClaude(repository), [Symbol.dispose]: () => repository.remove() };
}

/** The shop with a turn, "Add the tax", and what happens after it, shown to a person in the browser. */
export async function openTaxedShop(afterwards?: (day: Day) => Promise<unknown>) {
  const day = await freshDay();
  const { repository, agent } = day;
  await agent.start();
  await agent.turn("Add the tax", [edit("src/price.js", "=> net", "=> net * 1.2")], "Added.");
  await afterwards?.(day);
  const view = await startView(repository, { signedOut: true });
  const person = await open(view);
  const close = async () => {
    await person[Symbol.asyncDispose]();
    await view[Symbol.asyncDispose]();
    day[Symbol.dispose]();
  };
  return { repository, agent, view, person, page: person.page, [Symbol.asyncDispose]: close };
}

export async function recordedDay(): Promise<Day> {
  const day = await freshDay();
  const { repository, agent } = day;
  await agent.start();
  await agent.turn(
    "Add the tax to every price",
    [edit("src/price.js", "=> net", "=> net * 1.2"), bash("echo built > build.log")],
    "The price now includes **20 % tax**.\n\n- `src/price.js` multiplies the net price\n- nothing else changed",
  );
  await agent.turn(
    "Cache the prices, so that the cart is fast with many items. Keep it simple, and write a note about it.",
    [
      write("src/cache.js", cacheModule()),
      edit("src/cart.js", 'import { price } from "./price.js";', 'import { cached } from "./cache.js";'),
      edit("src/cart.js", "price(item.net)", "cached(item.net)"),
      write("docs/cache.md", "# Cache\n\nPrices are kept for the life of the process.\n"),
    ],
    "Prices are cached now.\n\n```js\nconst known = new Map();\n```\n\nSee `docs/cache.md`.",
  );
  await repository.run(["save", "before the rename"]);
  await agent.turn("Rename total to sum everywhere", [bash("sed -i 's/total/sum/' src/cart.js")], "Renamed.");
  await repository.run(["rewind", "1", "--yes", "--code-only"]);
  await agent.turn(
    "Format the cart",
    [edit("src/cart.js", "  let sum = 0;\n", "  let sum = 0; // in cents\n"), write("src/format.js", formatModule())],
    "Formatted.",
  );
  await agent.end();
  const second = new ScriptedClaude(repository);
  await second.start();
  await second.turn("Explain the shop in the README", [write("README.md", readme())], "The README explains the shop.");
  repository.commit("Describe the shop");
  await second.turn("Add a changelog", [write("CHANGELOG.md", "# Changelog\n\n- Tax\n- Cache\n")], "Added.");
  await repository.run(["undo", "1", "--yes"]);
  await second.turn("Check the prices once more", [], "All prices are right.");
  return { ...day, agent: second };
}

function cacheModule(): string {
  return `import { price } from "./price.js";

const known = new Map();

/** The price, computed once. */
export function cached(net) {
  if (!known.has(net)) known.set(net, price(net));
  return known.get(net);
}
`;
}

function formatModule(): string {
  const lines = Array.from({ length: 60 }, (_, i) => `export const rule${i} = { id: ${i}, name: "rule ${i}" };`);
  return `${lines.join("\n")}\n`;
}

function readme(): string {
  return "# Shop\n\nA small shop with prices, a cart and a cache.\n\n## Run\n\n    node src/cart.js\n";
}
