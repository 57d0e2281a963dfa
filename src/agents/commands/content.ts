/** The commands that agents get: what each asks the agent to do, in the file format of the agent. */

export type CommandFormat = "markdown" | "toml";

interface AgentCommand {
  name: string;
  description: string;
  /** `{args}` is replaced by the text that the user types after the command. */
  prompt: string;
}

/** Identifies a file as ours. */
const MARK = "Installed by `backtrail enable --commands`; `backtrail disable` removes it.";

const SERVER = "the MCP server `backtrail`";

export const COMMANDS: readonly AgentCommand[] = [
  {
    name: "backtrail-log",
    description: "List what agents did here, newest first",
    prompt: `Call the tool \`turns\` of ${SERVER} and list the turns for me: id, time, prompt, files, and whether each was kept, undone or rewound. If the server is not connected, run \`backtrail log\` instead. Change nothing. I am looking for: {args}`,
  },
  {
    name: "backtrail-undo",
    description: "Propose to take a turn back; you decide",
    prompt: `I want to take back: {args}\n\nFind the turn with the tool \`turns\` of ${SERVER}, then call \`propose_undo\` with its id and my reason. Show me the plan and the command \`backtrail apply <id>\`, which I run myself. Don't run it, and don't revert any file by other means. If the server is not connected, tell me to run \`backtrail undo\`.`,
  },
  {
    name: "backtrail-why",
    description: "Explain why a line is there: its turn, its prompt, its commit",
    prompt: `Call the tool \`why\` of ${SERVER} for this file and line, and explain to me why the line is there: {args}\n\nIf the server is not connected, run \`backtrail why <file>:<line>\` instead. Change nothing.`,
  },
];

export function fileName({ name }: AgentCommand, format: CommandFormat): string {
  return format === "toml" ? `${name}.toml` : `${name}.md`;
}

export function contentOf({ description, prompt }: AgentCommand, format: CommandFormat): string {
  if (format === "toml")
    return `# ${MARK}\ndescription = ${JSON.stringify(description)}\nprompt = ${JSON.stringify(prompt.replace("{args}", "{{args}}"))}\n`;
  return `---\ndescription: ${description}\n---\n\n${prompt.replace("{args}", "$ARGUMENTS")}\n\n<!-- ${MARK} -->\n`;
}

export function isOurs(text: string): boolean {
  return text.includes(MARK);
}
