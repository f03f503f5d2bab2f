/**
 * Whether one resourceVersion is older than another. Those of one kind are increasing numbers on every API server, until
 * the server is restored from a backup. False if either is no number: nothing is known then.
 */
export function isOlderVersion(version: string | undefined, than: string | undefined): boolean {
  const [left, right] = [digitsOf(version), digitsOf(than)];
  if (left === undefined || right === undefined) return false;
  return left.length === right.length ? left < right : left.length < right.length; // exact, whatever the size
}

function digitsOf(version: string | undefined): string | undefined {
  return version !== undefined && /^\d+$/.test(version) ? version.replace(/^0+(?=\d)/, "") : undefined;
}
