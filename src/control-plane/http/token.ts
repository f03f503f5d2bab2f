import { createHash, timingSafeEqual } from "node:crypto";

/** Compares hashes in constant time. (05:CP-S2) */
export function tokenChecker(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization = "") => {
    const [scheme = "", given = "", ...more] = authorization.split(" ").filter((part) => part !== "");
    if (scheme.toLowerCase() !== "bearer" || more.length > 0) return false;
    return timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
