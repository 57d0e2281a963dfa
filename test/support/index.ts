/** What tests share: temporary places, a clean environment, the built executable, stories for snapshots. */
export { executable, type Result, runProgram } from "./binary.ts";
export { bash, edit, ScriptedClaude, write } from "./claude/agent.ts";
export { TemporaryDirectory, temporaryDirectory } from "./directory.ts";
export { cleanEnvironment, minute } from "./environment.ts";
export { TemporaryRepository, temporaryFolder, temporaryRepository } from "./repository.ts";
export { Story } from "./story.ts";
