import { describe, expect, it } from "vitest";
import { measuredAws } from "../../src/providers/aws/api/measured-aws.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { FakeAws } from "./fake-aws.ts";

describe("calls to AWS", () => {
  it("04 §5.5 are counted by service, operation and error, and timed", async () => {
    const clock = new VirtualClock({ startAt: 0 });
    const aws = new FakeAws({ clock, latencyMs: 250 });
    const seen: string[] = [];
    const metrics = {
      count: (name: string, labels: object) => seen.push([name, ...Object.values(labels)].join(" ")),
      observe: (name: string, labels: object, value: number) =>
        seen.push([name, ...Object.values(labels), value].join(" ")),
    };
    const { ec2, sqs, region } = measuredAws(aws.api, { metrics, clock });
    const calls = Promise.allSettled([ec2.describeSubnets({}), sqs.getQueueUrl("nothing")]);
    await clock.advance(1_000);
    expect((await calls).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(region).toBe("us-west-2");
    expect(seen.sort()).toEqual([
      "aws_request_duration_seconds ec2 DescribeSubnets 0.25",
      "aws_request_duration_seconds sqs GetQueueUrl 0.25",
      "aws_requests_total ec2 DescribeSubnets OK",
      "aws_requests_total sqs GetQueueUrl QueueDoesNotExist",
    ]);
  });
});
