/** The texts of `Warning` headers: `299 - "text"`, several joined by commas or as several headers. (RFC 9111 §5.5) */
export function warningTexts(headers: readonly string[]): readonly string[] {
  return headers.flatMap((header) =>
    [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => unquoted(text)),
  );
}

function unquoted(text = ""): string {
  return text.replace(/\\(.)/g, "$1");
}
