import type { InstanceProfile } from "@aws-sdk/client-iam";
import type { IamApi } from "../../src/providers/aws/api/aws-api.ts";
import { AwsError } from "../../src/providers/aws/api/aws-error.ts";
import type { FakeAws } from "./fake-aws.ts";

/** IAM of the fake account: instance profiles, and roles that are there or not. */
export function fakeIam(aws: FakeAws): IamApi {
  const call = <T>(operation: string, input: unknown, run: () => T): Promise<T> =>
    aws.call("iam", operation, input, run);
  const find = (operation: string, name: string): InstanceProfile => {
    const found = aws.instanceProfiles.get(name);
    if (found === undefined) throw missing(operation, `Instance Profile ${name} cannot be found.`);
    return found;
  };
  const roleNamed = (operation: string, name: string) => {
    if (!aws.roles.has(name)) throw missing(operation, `The role with name ${name} cannot be found.`);
    return {
      RoleName: name,
      RoleId: name,
      Path: "/",
      Arn: `arn:aws:iam::000000000000:role/${name}`,
      CreateDate: new Date(aws.now()),
    };
  };
  return {
    getInstanceProfile: (name) => call("GetInstanceProfile", { name }, () => ({ ...find("GetInstanceProfile", name) })),
    createInstanceProfile: (input) =>
      call("CreateInstanceProfile", input, () => {
        const name = input.InstanceProfileName ?? "";
        if (aws.instanceProfiles.has(name)) {
          throw new AwsError(
            "iam:CreateInstanceProfile",
            "EntityAlreadyExists",
            `Instance Profile ${name} already exists.`,
            { status: 409 },
          );
        }
        const profile: InstanceProfile = {
          InstanceProfileName: name,
          InstanceProfileId: aws.newId("aip"),
          Path: input.Path ?? "/",
          Arn: `arn:aws:iam::000000000000:instance-profile${input.Path ?? "/"}${name}`,
          CreateDate: new Date(aws.now()),
          Roles: [],
          Tags: input.Tags ?? [],
        };
        aws.instanceProfiles.set(name, profile);
        return { ...profile };
      }),
    deleteInstanceProfile: (name) =>
      call("DeleteInstanceProfile", { name }, () => {
        if ((find("DeleteInstanceProfile", name).Roles ?? []).length > 0) {
          throw new AwsError(
            "iam:DeleteInstanceProfile",
            "DeleteConflict",
            "Cannot delete entity, must remove roles from instance profile first.",
            { status: 409 },
          );
        }
        aws.instanceProfiles.delete(name);
      }),
    tagInstanceProfile: (input) =>
      call("TagInstanceProfile", input, () => {
        find("TagInstanceProfile", input.InstanceProfileName ?? "").Tags = input.Tags;
      }),
    addRoleToInstanceProfile: (input) =>
      call("AddRoleToInstanceProfile", input, () => {
        const profile = find("AddRoleToInstanceProfile", input.InstanceProfileName ?? "");
        const role = roleNamed("AddRoleToInstanceProfile", input.RoleName ?? "");
        if ((profile.Roles ?? []).length > 0) {
          throw new AwsError(
            "iam:AddRoleToInstanceProfile",
            "LimitExceeded",
            "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1",
            { status: 409 },
          );
        }
        profile.Roles = [role];
      }),
    removeRoleFromInstanceProfile: (input) =>
      call("RemoveRoleFromInstanceProfile", input, () => {
        const profile = find("RemoveRoleFromInstanceProfile", input.InstanceProfileName ?? "");
        profile.Roles = (profile.Roles ?? []).filter(({ RoleName }) => RoleName !== input.RoleName);
      }),
    listInstanceProfiles: (input) =>
      call("ListInstanceProfiles", input, () =>
        [...aws.instanceProfiles.values()].filter(({ Path }) => Path?.startsWith(input.PathPrefix ?? "/")),
      ),
    getRole: (name) => call("GetRole", { name }, () => roleNamed("GetRole", name)),
  };
}

function missing(operation: string, message: string): AwsError {
  return new AwsError(`iam:${operation}`, "NoSuchEntity", message, { status: 404 });
}
