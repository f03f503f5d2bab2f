/** Kubernetes' name syntax, stricter than the CRD patterns. Each function returns what is wrong, or undefined. (01 §0.2) */

const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const maxName = 63;
const maxSubdomain = 253;

/** A label key or taint key: `name` or `dns.prefix/name`. */
export function qualifiedNameError(text: string): string | undefined {
  const parts = text.split("/");
  const [prefix, name = ""] = parts.length === 1 ? [undefined, text] : parts;
  if (parts.length > 2) return "it has more than one '/'; write name or prefix/name";
  if (prefix === "") return "its prefix is empty";
  const prefixError = prefix === undefined ? undefined : dnsSubdomainError(prefix);
  if (prefixError !== undefined)
    return `its prefix ${JSON.stringify(shortText(prefix ?? ""))} is not a DNS name: ${prefixError}`;
  if (name === "") return "its name part is empty";
  if (name.length > maxName) return `its name part has ${name.length} characters, more than ${maxName}`;
  if (!qualifiedName.test(name)) {
    return "its name part must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between";
  }
  return undefined;
}

export function labelValueError(text: string): string | undefined {
  if (text.length > maxName) return `it has ${text.length} characters, more than ${maxName}`;
  if (labelValue.test(text)) return undefined;
  return "it must be empty, or begin and end with a letter or digit with only letters, digits, '-', '_' and '.' between";
}

export function dnsLabelError(text: string): string | undefined {
  if (text.length > maxName) return `it has ${text.length} characters, more than ${maxName}`;
  return dnsLabel.test(text) ? undefined : "it must be lower-case letters, digits and inner '-'";
}

export function dnsSubdomainError(text: string): string | undefined {
  if (text.length > maxSubdomain) return `it has ${text.length} characters, more than ${maxSubdomain}`;
  return dnsSubdomain.test(text)
    ? undefined
    : "it must be lower-case letters, digits and inner '-', in parts joined by '.'";
}

/** Shortens user input that is quoted in a message. */
export function shortText(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
