/** The named patterns of 01 §0.2, in RE2 syntax, unanchored unless they say otherwise. */
const subdomain = "([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?";

export const schemaPatterns = {
  qualifiedName: `^${subdomain}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`,
  labelValue: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
  quantity:
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  duration: "^([0-9]+(s|m|h))+$",
  durationOrNever: "^(([0-9]+(s|m|h))+|Never)$",
  budgetNodes: "^((100|[0-9]{1,2})%|[0-9]+)$",
  /** Grouped wrongly upstream and kept: `@dailyfoo` and six fields pass here and fail at evaluation. */
  budgetSchedule: "^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$",
  budgetDuration: "^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
  volumeSize:
    "^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$",
  price: "^\\d+(\\.\\d+)?$",
  priceAdjustment: "^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$",
  conditionType: `^${subdomain}(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
  conditionReason: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
  conditionReasonOrEmpty: "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$",
  apiGroup: "^[^/]*$",
  subnetId: "subnet-[0-9a-z]+",
  securityGroupId: "sg-[0-9a-z]+",
  imageId: "ami-[0-9a-z]+",
  capacityReservationId: "^cr-[0-9a-z]+$",
  placementGroupId: "^pg-[0-9a-z]+$",
  accountId: "^[0-9]{12}$",
} as const;
