/** One part of a multipart archive; header lines as they are written. */
export interface MimePart {
  readonly headers: readonly string[];
  readonly content: string;
}

export type MimeReading =
  | { readonly kind: "ok"; readonly parts: readonly MimePart[] }
  | { readonly kind: "error"; readonly message: string };

export const shellScriptType = `text/x-shellscript; charset="us-ascii"`;
export const nodeConfigType = "application/node.eks.aws";

const preferredBoundary = "//";

export function mimePart(contentType: string, content: string): MimePart {
  return { headers: [`Content-Type: ${contentType}`], content };
}

/** The parts of the user's own data: those of an archive, or the whole text as one part of a type. (04 §1.9) */
export function customMimeParts(custom: string | undefined, typeOf: (text: string) => string): MimeReading {
  if (!custom) return { kind: "ok", parts: [] };
  const isArchive = /^\s*(MIME-Version|Content-Type):/.test(custom);
  return isArchive ? readMimeArchive(custom) : { kind: "ok", parts: [mimePart(typeOf(custom), custom)] };
}

/** The archive as cloud-init reads it; lines end without carriage returns. */
export function writeMimeArchive(parts: readonly MimePart[]): string {
  const clean = parts.map(({ headers, content }) => ({ headers, content: content.replaceAll("\r", "") }));
  const boundary = freeBoundary(clean);
  const written = clean.map(({ headers, content }) => `--${boundary}\n${headers.join("\n")}\n\n${content}\n`);
  return `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n${written.join("")}--${boundary}--\n`;
}

/** A boundary that no line of the content begins with. */
function freeBoundary(parts: readonly MimePart[]): string {
  let boundary = preferredBoundary;
  const isTaken = () =>
    parts.some(({ content }) => content.split("\n").some((line) => line.startsWith(`--${boundary}`)));
  for (let count = 1; isTaken(); count++) boundary = `${preferredBoundary}${count}`;
  return boundary;
}

/** Reads a multipart archive. */
export function readMimeArchive(text: string): MimeReading {
  const lines = text.trimStart().replaceAll("\r", "").split("\n");
  const end = lines.indexOf("");
  const headers = end < 0 ? undefined : unfolded(lines.slice(0, end));
  if (headers === undefined) return failed("its headers are not followed by an empty line");
  if (!headers.every((line) => /^[!-9;-~]+:/.test(line))) return failed("a header line has no name");
  const contentType = headers.find((line) => /^content-type:/i.test(line));
  if (contentType === undefined) return failed("it has no Content-Type header");
  if (!/^content-type:\s*multipart\//i.test(contentType)) return failed("its Content-Type is not multipart");
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return failed("its Content-Type has no boundary");
  return partsOf(lines.slice(end + 1), boundary);
}

function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i.exec(contentType);
  const found = match?.[1]?.replace(/\\(.)/g, "$1") ?? match?.[2];
  return found === "" ? undefined : found;
}

/** What stands before the first boundary and after the last one is no part. */
function partsOf(lines: readonly string[], boundary: string): MimeReading {
  const parts: MimePart[] = [];
  let open: string[] | undefined;
  for (const line of lines) {
    const mark = line.trimEnd();
    const isEnd = mark === `--${boundary}--`;
    if (mark !== `--${boundary}` && !isEnd) {
      open?.push(line);
      continue;
    }
    if (open !== undefined) parts.push(partOf(open));
    if (isEnd) return { kind: "ok", parts };
    open = [];
  }
  return failed(`it does not end with the line --${boundary}--`);
}

function partOf(lines: readonly string[]): MimePart {
  const end = lines.indexOf("");
  return end < 0
    ? { headers: unfolded(lines), content: "" }
    : { headers: unfolded(lines.slice(0, end)), content: lines.slice(end + 1).join("\n") };
}

/** A line that begins with a space continues the one before. */
function unfolded(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line) && joined.length > 0) joined.push(`${joined.pop()} ${line.trim()}`);
    else joined.push(line);
  }
  return joined;
}

function failed(message: string): MimeReading {
  return { kind: "error", message };
}
