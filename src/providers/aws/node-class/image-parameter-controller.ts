import { type Controller, reconcileController } from "../../../kube/controller.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { filter } from "./ec2-queries.ts";
import type { ImageParameters } from "./image-parameters.ts";

const periodMs = 30 * 60_000;

/**
 * Forgets parameters whose image is deprecated by now: the parameter names a newer one, and waiting a day for it would
 * launch nodes that are replaced soon. (04 §1.7)
 */
export function imageParameterController({
  ec2,
  parameters,
}: {
  readonly ec2: Ec2Api;
  readonly parameters: ImageParameters;
}): Controller {
  return reconcileController({
    name: "providers.ssm.invalidation",
    triggers: [],
    initialKeys: ["parameters"],
    reads: [{ of: "cloud", withinMs: periodMs, because: "AWS does not announce that an image is deprecated" }],
    reconcile: async (_, { clock }) => {
      const names = parameters.mutableNamesByImage();
      if (names.size > 0) {
        const images = await ec2.describeImages({
          Filters: [filter("image-id", ...names.keys())],
          IncludeDeprecated: true,
        });
        for (const { ImageId = "", DeprecationTime } of images) {
          const isDeprecated = DeprecationTime !== undefined && Date.parse(DeprecationTime) <= clock.now();
          if (isDeprecated) for (const name of names.get(ImageId) ?? []) parameters.forget(name);
        }
      }
      return { afterMs: periodMs };
    },
  });
}
