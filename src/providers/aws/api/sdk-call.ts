import type { CallOptions } from "./aws-api.ts";
import { AwsError, withoutAccount } from "./aws-error.ts";

/** Runs a call of the SDK; whatever it throws becomes an `AwsError`. */
export async function sdkCall<T>(operation: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw awsErrorOf(operation, error);
  }
}

/** How the SDK wants a signal. */
export function abortOf(options: CallOptions | undefined): { readonly abortSignal?: AbortSignal } {
  return options?.signal === undefined ? {} : { abortSignal: options.signal };
}

/** The items of all pages. Mocks may omit tokens and lists. */
export function allPages<Page, Item>(
  operation: string,
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<Item[]> {
  return sdkCall(operation, async () => {
    const items: Item[] = [];
    for await (const page of pages) for (const item of itemsOf(page) ?? []) items.push(item);
    return items;
  });
}

/**
 * The services spell their errors differently: IAM's name is the code with "Exception" behind it, SQS keeps its old code
 * beside a new name, the others use the name alone. (04 §3.7)
 */
export function awsErrorOf(operation: string, error: unknown): AwsError {
  if (error instanceof AwsError) return error;
  const { name, Code, code, message, $metadata } = error as SdkErrorFields;
  const spelled = Code !== undefined && name === `${Code}Exception` ? Code : name;
  // Node's own errors are all called "Error" and have a code, such as ECONNREFUSED.
  const awsCode = (spelled === undefined || spelled === "Error" ? code : spelled) ?? "Unknown";
  const status = $metadata?.httpStatusCode;
  return new AwsError(operation, awsCode, withoutAccount(message ?? awsCode), {
    ...(status !== undefined && { status }),
    cause: isService(error) ? undefined : error,
  });
}

interface SdkErrorFields {
  readonly name?: string;
  readonly Code?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** An error that AWS answered with says everything in its code and message; the object carries headers and credentials' ids. */
function isService(error: unknown): boolean {
  return typeof error === "object" && error !== null && "$fault" in error;
}
