/** Decodes bytes to text, or says why they are not a manifest. */
export type DecodedManifest =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly because: string };

const gzipMagic = [0x1f, 0x8b];

export function decodeManifest(bytes: Uint8Array): DecodedManifest {
  if (gzipMagic.every((byte, index) => bytes[index] === byte)) {
    return refused("this is a gzip archive, not a manifest; unpack it first");
  }
  const zero = bytes.indexOf(0);
  if (zero !== -1) return refused(`this is a binary file (byte ${zero} is NUL); manifests are UTF-8 text`);
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return refused("this file is not valid UTF-8; manifests are UTF-8 text");
  }
}

function refused(because: string): DecodedManifest {
  return { kind: "refused", because };
}
