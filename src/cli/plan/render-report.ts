import { styleText } from "node:util";
import { stringify } from "yaml";
import type { PlanOutput } from "./plan-choices.ts";

export interface ReportFormat {
  readonly output: Exclude<PlanOutput, "nodeclaims">;
  readonly color: boolean;
}

export interface ReportTextOptions {
  readonly isWide: boolean;
  readonly bold: (text: string) => string;
}

/** A report in the requested format; the text is the report's own. */
export function renderReport<T>(
  report: T,
  { output, color }: ReportFormat,
  textOf: (report: T, options: ReportTextOptions) => string,
): string {
  switch (output) {
    case "json":
      return `${JSON.stringify(report, null, 2)}\n`;
    case "yaml":
      return stringify(report, { lineWidth: 0, aliasDuplicateObjects: false });
    case "table":
    case "wide": {
      const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
      return textOf(report, { isWide: output === "wide", bold });
    }
  }
}
