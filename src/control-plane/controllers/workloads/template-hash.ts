import { canonicalJson } from "../../../util/canonical-json.ts";
import { fnv1a32 } from "../../../util/hash.ts";

/** Kubernetes' safe alphabet: no vowels, so that no hash spells a word. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The hash of a pod template for names and labels; the order of its keys does not matter. */
export function templateHash(template: unknown, collisions = 0): string {
  const text = canonicalJson(template) + (collisions === 0 ? "" : `#${collisions}`);
  return [...String(fnv1a32(text))].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join("");
}
