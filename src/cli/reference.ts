import type { Command } from "commander";

/** The reference page, from the commands themselves: what `--help` says, one section a command. */
export function cliReference(program: Command): string {
  const sections = [program, ...program.commands].map((command) => {
    const name = command === program ? program.name() : `${program.name()} ${command.name()}`;
    return `## ${name}\n\n\`\`\`\n${help(command)}\n\`\`\`\n`;
  });
  return `# Command line\n\nWritten by \`npm run docs\` from the commands themselves.\n\n${sections.join("\n")}`;
}

/** With a fixed width, so that the page does not depend on somebody's terminal. */
function help(command: Command): string {
  let text = "";
  command.configureOutput({
    getOutHelpWidth: () => 110,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text.trim();
}
