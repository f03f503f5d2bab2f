import type { TopSortKey } from "./sort-rows.ts";

/** What the user has chosen to see. */
export interface TopScreenState {
  /** The number of rows above the screen. */
  readonly scroll: number;
  readonly sort: TopSortKey;
}

export interface ScrollLimits {
  readonly pageRows: number;
  readonly lastScroll: number;
}

const sortKeys: Readonly<Record<string, TopSortKey>> = {
  n: "name",
  o: "pool",
  c: "cpu",
  m: "memory",
  d: "pods",
  a: "age",
  p: "price",
};

/** `n name  o pool …` */
export const sortKeyHelp = Object.entries(sortKeys)
  .map(([key, sort]) => `${key} ${sort}`)
  .join("  ");

/** The keys in what a terminal sent; an escape sequence is one key. */
export function terminalKeys(data: string): readonly string[] {
  return data.match(/\u001b\[[0-9;]*[A-Za-z~]|\u001bO[A-Za-z]|[\s\S]/gu) ?? [];
}

/** The state after a key; `quit` if the user is done. */
export function afterKey(
  state: TopScreenState,
  key: string,
  { pageRows, lastScroll }: ScrollLimits,
): TopScreenState | "quit" {
  const to = (scroll: number): TopScreenState => ({ ...state, scroll: Math.max(0, Math.min(scroll, lastScroll)) });
  const at = Math.min(state.scroll, lastScroll);
  switch (key) {
    case "q":
    case "Q":
    case "\u0003": // Ctrl-C
    case "\u0004": // Ctrl-D
      return "quit";
    case "k":
    case "\u001b[A":
    case "\u001bOA":
      return to(at - 1);
    case "j":
    case "\u001b[B":
    case "\u001bOB":
      return to(at + 1);
    case "\u001b[5~": // page up
    case "\u0002": // Ctrl-B
      return to(at - pageRows);
    case "\u001b[6~": // page down
    case "\u0006": // Ctrl-F
    case " ":
      return to(at + pageRows);
    case "g":
    case "\u001b[H":
    case "\u001b[1~":
      return to(0);
    case "G":
    case "\u001b[F":
    case "\u001b[4~":
      return to(lastScroll);
  }
  const sort = Object.hasOwn(sortKeys, key) ? sortKeys[key] : undefined;
  return sort === undefined ? state : { sort, scroll: 0 };
}
