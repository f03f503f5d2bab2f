import { Command } from "commander";
import { iamCommand } from "./aws/iam-command.ts";
import { userDataCommand } from "./aws/user-data-command.ts";
import { type Io, withIo } from "./io.ts";

/** `karpenter aws`: what an installation on AWS needs, printed without touching the account. */
export function awsCommand(io: Io): Command {
  return withIo(new Command("aws"), io)
    .summary("print what nodes and installations on AWS need")
    .description("Print what nodes and installations on AWS need. Nothing here calls AWS.")
    .addCommand(iamCommand(io))
    .addCommand(userDataCommand(io));
}
