/** The events of EventBridge that go to the queue. (04 §4.2, §4.5) */
export const interruptionRules = [
  { name: "ScheduledChange", source: "aws.health", detailType: "AWS Health Event" },
  { name: "SpotInterruption", source: "aws.ec2", detailType: "EC2 Spot Instance Interruption Warning" },
  { name: "Rebalance", source: "aws.ec2", detailType: "EC2 Instance Rebalance Recommendation" },
  { name: "InstanceStateChange", source: "aws.ec2", detailType: "EC2 Instance State-change Notification" },
  {
    name: "CapacityReservationInterruption",
    source: "aws.ec2",
    detailType: "EC2 Capacity Reservation Instance Interruption Warning",
  },
] as const;

/** The name of a rule, which is also the last part of its name in CloudFormation. */
export type InterruptionRuleName = (typeof interruptionRules)[number]["name"];
