/** A value of IAM's JSON: a text or several. */
type PolicyValue = string | readonly string[];

export interface PolicyStatement {
  readonly Sid: string;
  readonly Effect: "Allow" | "Deny";
  readonly Principal?: Readonly<Record<string, PolicyValue>> | "*";
  readonly Action: PolicyValue;
  readonly Resource?: PolicyValue;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, PolicyValue>>>>;
}

/** An IAM policy. */
export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly PolicyStatement[];
}

export function policyDocument(...Statement: readonly PolicyStatement[]): PolicyDocument {
  return { Version: "2012-10-17", Statement };
}
