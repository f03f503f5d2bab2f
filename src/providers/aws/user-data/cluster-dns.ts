/** Whether pods and Services have IPv6 addresses, judged by the address of the cluster's DNS. (04 §1.9) */
export function isIpv6Cluster(dnsIp: string | undefined): boolean {
  return dnsIp?.includes(":") ?? false;
}
