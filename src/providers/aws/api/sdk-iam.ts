import type { InstanceProfile } from "@aws-sdk/client-iam";
import type { IamApi } from "./aws-api.ts";
import { AwsError } from "./aws-error.ts";
import { abortOf, allPages, sdkCall } from "./sdk-call.ts";
import { type SdkClientOptions, sdkClientConfig } from "./sdk-client-options.ts";

const pageSize = 1_000;

/** IAM through the SDK. */
export async function sdkIam(clientOptions: SdkClientOptions): Promise<IamApi> {
  const sdk = await import("@aws-sdk/client-iam");
  const client = new sdk.IAMClient(sdkClientConfig(clientOptions));
  return {
    getInstanceProfile: async (InstanceProfileName, options) => {
      const command = new sdk.GetInstanceProfileCommand({ InstanceProfileName });
      const answer = await sdkCall("iam:GetInstanceProfile", () => client.send(command, abortOf(options)));
      return profileIn("iam:GetInstanceProfile", answer);
    },
    createInstanceProfile: async (input, options) => {
      const command = new sdk.CreateInstanceProfileCommand(input);
      const answer = await sdkCall("iam:CreateInstanceProfile", () => client.send(command, abortOf(options)));
      return profileIn("iam:CreateInstanceProfile", answer);
    },
    deleteInstanceProfile: async (InstanceProfileName, options) => {
      const command = new sdk.DeleteInstanceProfileCommand({ InstanceProfileName });
      await sdkCall("iam:DeleteInstanceProfile", () => client.send(command, abortOf(options)));
    },
    tagInstanceProfile: async (input, options) => {
      const command = new sdk.TagInstanceProfileCommand(input);
      await sdkCall("iam:TagInstanceProfile", () => client.send(command, abortOf(options)));
    },
    addRoleToInstanceProfile: async (input, options) => {
      const command = new sdk.AddRoleToInstanceProfileCommand(input);
      await sdkCall("iam:AddRoleToInstanceProfile", () => client.send(command, abortOf(options)));
    },
    removeRoleFromInstanceProfile: async (input, options) => {
      const command = new sdk.RemoveRoleFromInstanceProfileCommand(input);
      await sdkCall("iam:RemoveRoleFromInstanceProfile", () => client.send(command, abortOf(options)));
    },
    listInstanceProfiles: (input, options) => {
      const pages = sdk.paginateListInstanceProfiles({ client, pageSize }, input, abortOf(options));
      return allPages("iam:ListInstanceProfiles", pages, ({ InstanceProfiles }) => InstanceProfiles);
    },
    getRole: async (RoleName, options) => {
      const command = new sdk.GetRoleCommand({ RoleName });
      const { Role } = await sdkCall("iam:GetRole", () => client.send(command, abortOf(options)));
      if (Role === undefined) throw new AwsError("iam:GetRole", "NoSuchEntity", `no role ${RoleName} in the answer`);
      return Role;
    },
  };
}

function profileIn(
  operation: string,
  { InstanceProfile: profile }: { readonly InstanceProfile?: InstanceProfile | undefined },
): InstanceProfile {
  if (profile === undefined) throw new AwsError(operation, "NoSuchEntity", "no instance profile in the answer");
  return profile;
}
