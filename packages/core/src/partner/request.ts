import type { z } from 'zod';
import type { RepeatableRequest } from '../idempotency/repeatable-request.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { ApiKeyState, KeyScope } from '../ports/api-keys.ts';
import type { SdkCall } from '../ports/console.ts';
import type { JsonObject } from '../ports/interactions.ts';

/** Groups of operations, for people. */
export const partnerTags = {
  Passports: 'Verify the passport that a user shows.',
  Payments: 'Initiate and inspect transfers.',
  Users: 'Look users up.',
  Reconciliation: 'Export what became final.',
  Webhooks: 'Say where events go, and see what was delivered.',
  Events: 'What happened, in its sequence.',
  Sandbox: 'Try things out, with a test key.',
  Keys: 'What the key of the request is.',
} as const;

/** A request that has passed the pipeline. */
export interface PartnerRequest<Body = unknown, Query = unknown, Path = unknown> extends RepeatableRequest {
  readonly key: ApiKeyState;
  /** Finds the address that the server sees, or `null`. */
  readonly address: () => string | null;
  readonly body: Body;
  readonly query: Query;
  readonly path: Path;
}

/** Response of a handler: JSON, as text or not, or a stream of another type. */
export type PartnerAnswer =
  | { readonly status: number; readonly body: JsonObject | string; readonly replayed?: boolean }
  | {
      readonly status: number;
      readonly type: string;
      readonly stream: AsyncIterable<string>;
      readonly fileName?: string;
    };

/** A line of the partner API's route table. */
export interface PartnerRoute<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Path extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** `null`: any key. */
  readonly scope: KeyScope | null;
  readonly limit: LimitGroup;
  /** The group in the OpenAPI description; generated clients make a class of it. */
  readonly tag: keyof typeof partnerTags;
  /** For the documentation and the operation id of OpenAPI. */
  readonly operation: string;
  readonly summary: string;
  /** Call of `@ostiary/client-sdk`, if it has one. */
  readonly sdk?: SdkCall;
  readonly body?: Body;
  /** True if a request without a body means `{}`. @defaultValue `false` */
  readonly bodyIsOptional?: boolean;
  readonly query?: Query;
  readonly pathSchema?: Path;
  /** Error for a path with an invalid parameter. @defaultValue `"not_found"` */
  readonly wrongPath?: 'not_found' | 'invalid_request';
  /** Success: its status, the schema of its body, and other media types in which it may come. */
  readonly success: {
    readonly status: number;
    readonly schema: z.ZodType;
    readonly texts?: readonly string[];
  };
  /** True if the `Idempotency-Key` header has an effect: `handle` is not called for a replay. */
  readonly idempotent?: boolean;
  /** Only with a test key; live ones see 404, and why. */
  readonly testOnly?: boolean;
  readonly handle: (
    request: PartnerRequest<z.output<Body>, z.output<Query>, z.output<Path>>,
  ) => Promise<PartnerAnswer>;
}

/** An operation that this process can call too: a route without its path. */
export type PartnerOperation<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Path extends z.ZodType = z.ZodType,
> = Pick<
  PartnerRoute<Body, Query, Path>,
  | 'operation'
  | 'scope'
  | 'testOnly'
  | 'body'
  | 'bodyIsOptional'
  | 'query'
  | 'pathSchema'
  | 'wrongPath'
  | 'idempotent'
  | 'handle'
>;

/** As {@link route}, for an operation that has no address. */
export function operation<Body extends z.ZodType, Query extends z.ZodType, Path extends z.ZodType>(
  definition: PartnerOperation<Body, Query, Path>,
): PartnerOperation {
  return definition as unknown as PartnerOperation;
}

/** Keeps the types of one route together; the table forgets them. */
export function route<Body extends z.ZodType, Query extends z.ZodType, Path extends z.ZodType>(
  definition: PartnerRoute<Body, Query, Path>,
): PartnerRoute {
  return definition as unknown as PartnerRoute;
}
