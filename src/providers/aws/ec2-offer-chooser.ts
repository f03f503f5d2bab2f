import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { OfferChooser } from "../../cloud/launchable-offerings.ts";
import { chooseLaunchOffers } from "./choose-launch-offers.ts";
import { amiFor } from "./node-class/ami-requirements.ts";

/** What a launch asks CreateFleet for: types an image of the class boots, as far as its images are known. */
export function ec2OfferChooser(findClass: (ref: NodeClassRef) => Ec2NodeClass | undefined): OfferChooser {
  return (launch, offers) => {
    const { amis = [] } = findClass(launch.claim.spec.nodeClassRef)?.status ?? {};
    const bootable = amis.length === 0 ? offers : offers.filter(({ type }) => amiFor(type, amis) !== undefined);
    return chooseLaunchOffers(bootable, launch);
  };
}
