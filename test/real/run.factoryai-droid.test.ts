/** Headless runs with the real Factory Droid. */
import { droid, MODEL, nameModel, whereDroidRuns } from "./factoryai-droid.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(droid, await whereDroidRuns(), {
  id: "factoryai-droid",
  name: "droid",
  write: (path, content) => toolUse("Create", { file_path: path, content }),
  prepare: nameModel,
  args: () => ["--model", MODEL],
  refusal: /droid ended with status 1: .*this is not possible/,
});
