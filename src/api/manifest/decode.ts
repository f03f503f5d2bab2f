/** Decodes bytes to text, or says why they are not a manifest. */
export type DecodedManifest =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly because: string };

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The caller has unpacked gzip once. */
export function decodeManifest(bytes: Uint8Array): DecodedManifest {
  if (isGzip(bytes)) return refused("this is a gzip archive inside another; unpack it with gunzip");
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
