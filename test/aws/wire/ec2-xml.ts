/** A value of EC2's answers: arrays become `<item>` lists, undefined is left out. */
export type XmlValue =
  | string
  | number
  | boolean
  | undefined
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue };

/** An answer of EC2. */
export function ec2Answer(action: string, content: { readonly [name: string]: XmlValue }): string {
  const body = xmlOf({ requestId: "shim", ...content });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${body}</${action}Response>`;
}

export function ec2Refusal(code: string, message: string): string {
  const error = xmlOf({ Error: { Code: code, Message: message } });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors>${error}</Errors><RequestID>shim</RequestID></Response>`;
}

export function xmlOf(value: XmlValue): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map((item: XmlValue) => `<item>${xmlOf(item)}</item>`).join("");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, inner]) => (inner === undefined ? "" : `<${name}>${xmlOf(inner)}</${name}>`))
      .join("");
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The texts of all elements with this name. */
export function elementTexts(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text);
}
