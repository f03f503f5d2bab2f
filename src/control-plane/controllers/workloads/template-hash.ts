/** No vowels: a hash never spells a word. The alphabet of names that Kubernetes makes. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A name for a template: the same whatever the order of its keys, and safe in names and labels. */
export function templateHash(template: unknown, collisions = 0): string {
  const text = canonicalWithoutNulls(template) + (collisions === 0 ? "" : `#${collisions}`);
  return [...String(fnv1a(text))].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join("");
}

/** JSON with sorted keys. What is null is as good as absent. */
export function canonicalWithoutNulls(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalWithoutNulls).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalWithoutNulls(field)}`).join(",")}}`;
}

/** 32 bits, over UTF-16 units. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
