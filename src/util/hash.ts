/** 32-bit FNV-1a over UTF-16 units: for choices that must be the same in every run. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

const mask = 0xffff_ffff_ffff_ffffn;
const offset = 0xcbf2_9ce4_8422_2325n;
const prime = 0x100_0000_01b3n;

/** An unsigned 64-bit hash of a text, in decimal: FNV-1a over UTF-16 units, then mixed until every bit matters. */
export function hash64(text: string): string {
  let hash = offset;
  for (let at = 0; at < text.length; at++) {
    hash = ((hash ^ BigInt(text.charCodeAt(at))) * prime) & mask;
  }
  return mixed(hash).toString();
}

// Xor-shifts and odd multiplications are one-to-one, so mixing loses nothing.
function mixed(hash: bigint): bigint {
  let bits = hash;
  bits = ((bits ^ (bits >> 30n)) * 0xbf58_476d_1ce4_e5b9n) & mask;
  bits = ((bits ^ (bits >> 27n)) * 0x94d0_49bb_1331_11ebn) & mask;
  return bits ^ (bits >> 31n);
}
