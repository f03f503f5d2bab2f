/** `aws:///us-west-2a/i-0123` names the instance `i-0123`. (04 §3.8) */
const providerIdPattern = /^.*:\/\/\/.*\/(i-[0-9a-z]+)$/;

/** The id of an instance in a provider id; undefined if it is not of AWS. */
export function instanceIdOfProviderId(providerId: string | undefined): string | undefined {
  return providerIdPattern.exec(providerId ?? "")?.[1];
}
