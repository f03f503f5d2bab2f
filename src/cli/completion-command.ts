import { Argument, Command } from "commander";
import { type CompletedShell, completedShells, completionScripts } from "./completion/scripts.ts";
import { type Io, withIo } from "./io.ts";

const details = `
The script completes commands, options, values, files and the contexts of the kubeconfig; after explain also namespaces
and the names of pods, nodes and workloads of the cluster, if it answers within a second and a half. It asks the program
itself, so it stays right when the program is updated.

Exit codes: 0 printed, 2 the command line is wrong.

Examples:
  source <(karpenter completion bash)                                            # this shell; put it into ~/.bashrc
  karpenter completion zsh > "\${fpath[1]}/_karpenter"                            # then start a new shell
  karpenter completion fish > ~/.config/fish/completions/karpenter.fish`;

/** `karpenter completion SHELL`: prints the script that makes a shell complete our command lines. */
export function completionCommand(io: Io): Command {
  return withIo(new Command("completion"), io)
    .summary("print the completion script of a shell")
    .description("Print the script that makes a shell complete karpenter's commands, options and values.")
    .addArgument(new Argument("<shell>", "the shell").choices(completedShells))
    .addHelpText("after", details)
    .action((shell: CompletedShell) => io.stdout(completionScripts[shell]));
}
