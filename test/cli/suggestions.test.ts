import { describe, expect, it } from "vitest";
import { main, program } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

async function run(...args: readonly string[]) {
  const io = fakeIo();
  const code = await main(args, io);
  return { code, err: io.err() };
}

describe("a mistyped command line", () => {
  it.each([
    ["pln", "unknown command 'pln'; did you mean plan?; karpenter --help lists the commands"],
    ["explian pod x", "unknown command 'explian'; did you mean explain?"],
    ["qqqqqqqq", "unknown command 'qqqqqqqq'; karpenter --help lists the commands"],
    ["completion bsh", "Did you mean bash?"],
    ["aws iamm", "Did you mean iam?"],
    ["aws user_data", "Did you mean user-data?"],
    ["plan --filname x", "Did you mean --filename?"],
    ["up --regoin us-east-1", "Did you mean --region?"],
    ["plan --packing plian -f x", "Allowed choices are polished, plain. Did you mean plain?"],
    ["crds --provider asw", "Did you mean aws?"],
    ["plan pods.yaml more.yaml", "did you mean -f pods.yaml -f more.yaml?"],
    ["crds nodpool", "no such kind: nodpool; did you mean nodepool?"],
    ["instance-types --region us-east-1 -l zne=a", "-l zne: no such label; did you mean zone?"],
    ["run --log-level deubg", '--log-level is "deubg": expected one of debug, info, error; did you mean debug?'],
  ])("karpenter %s", async (line, said) => {
    const { code, err } = await run(...line.split(" "));
    expect(code).toBe(2);
    expect(err).toMatch(/^error: /);
    expect(err).toContain(said);
  });

  it("every option with a closed set of values says what was meant", () => {
    const commands = (function all(one: ReturnType<typeof program>): readonly ReturnType<typeof program>[] {
      return [one, ...one.commands.flatMap(all)];
    })(program(fakeIo()));
    const options = commands.flatMap((command) => command.options).filter(({ argChoices }) => argChoices !== undefined);
    expect(options.length).toBeGreaterThan(10);
    for (const { argChoices = [], parseArg, long } of options) {
      const word = argChoices.find((choice) => choice.length > 3);
      if (word === undefined) continue;
      expect(() => parseArg?.(`${word}x`, undefined), long).toThrow(`Did you mean ${word}?`);
    }
  });
});
