import type { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { StreamedFile } from '../http/write-stream.ts';
import type { RepeatableRequest } from '../idempotency/repeatable-request.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { KeyScope } from '../ports/api-keys.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { SdkCall } from '../ports/partner-console.ts';
import type { PortalRights } from '../ports/portal.ts';
import type { Caller } from './pipeline/caller.ts';

/** Groups of partner API operations, with descriptions for people. */
export const partnerTags = {
  Passports: 'Verify the passport that a user shows.',
  Payments: 'Initiate and inspect transfers.',
  Users: 'Look up users.',
  Reconciliation: 'Export final transfers.',
  Webhooks: 'Register webhook endpoints, and list their deliveries.',
  Events: 'List events in their sequence, and deliver events again.',
  Sandbox: 'Test an integration with a test key.',
  Keys: 'Show the API key of the request.',
} as const;

/** A parsed and checked request, as handlers get it. */
export interface PartnerRequest<Body = unknown, Query = unknown, Path = unknown> extends RepeatableRequest {
  readonly key: Caller;
  /**
   * Function that makes the audit log entry for a change; `null` if the audit log does not record the
   * sender's changes.
   */
  readonly act: Act | null;
  /** Returns the IP address of the client; `null` if unknown. */
  readonly address: () => string | null;
  /**
   * Checks whether the client has disconnected, or the server is closing, so that the handler need not wait
   * any longer.
   */
  readonly isOver: () => boolean;
  /** Checks again that the API key or session is valid. @throws PartnerError `invalid_api_key` if it is not */
  readonly readmit: () => Promise<void>;
  readonly body: Body;
  readonly query: Query;
  readonly path: Path;
}

/** Response of a handler: JSON, as an object or text, or a stream with a media type of its own. */
export type PartnerAnswer =
  | { readonly status: number; readonly body: JsonObject | string; readonly replayed?: boolean }
  | ({ readonly status: number } & StreamedFile);

/** An entry of the partner API's route table. */
export interface PartnerRoute<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Path extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Scope that the API key must have; `null` if any key may call the route. */
  readonly scope: KeyScope | null;
  readonly limit: LimitGroup;
  /** Group of the route in the OpenAPI description; generated clients have a class for each group. */
  readonly tag: keyof typeof partnerTags;
  /** Name of the operation, for the documentation and as OpenAPI operation id. */
  readonly operation: string;
  readonly summary: string;
  /** Method of `@ostiary/client-sdk` that calls this operation, if there is one. */
  readonly sdk?: SdkCall;
  readonly body?: Body;
  /** True if a request may leave its body out, which then counts as `{}`. @defaultValue `false` */
  readonly bodyIsOptional?: boolean;
  readonly query?: Query;
  readonly pathSchema?: Path;
  /** Error code of the response to a path with an invalid parameter. @defaultValue `"not_found"` */
  readonly wrongPath?: 'not_found' | 'invalid_request';
  /** Successful response of the route: its status, the schema of its body, and its other media types. */
  readonly success: {
    readonly status: number;
    readonly schema: z.ZodType;
    readonly texts?: readonly string[];
  };
  /** True if the route supports `Idempotency-Key`: a repeated request gets the stored response. */
  readonly idempotent?: boolean;
  /** False if the request log leaves the route out. @defaultValue `true` */
  readonly isLogged?: boolean;
  /** True if only test keys may call the route. Live keys get a 404 with the reason. */
  readonly testOnly?: boolean;
  /**
   * Right that a live portal session needs for the operation; missing if no portal session may call the
   * operation.
   */
  readonly portal?: PortalRights;
  readonly handle: (
    request: PartnerRequest<z.output<Body>, z.output<Query>, z.output<Path>>,
  ) => Promise<PartnerAnswer>;
}

/** A partner API operation that a console in this process can call: a route without its path. */
export type PartnerOperation<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Path extends z.ZodType = z.ZodType,
> = Pick<
  PartnerRoute<Body, Query, Path>,
  | 'operation'
  | 'scope'
  | 'testOnly'
  | 'portal'
  | 'body'
  | 'bodyIsOptional'
  | 'query'
  | 'pathSchema'
  | 'wrongPath'
  | 'idempotent'
  | 'handle'
>;

/** Defines a console operation, which has no route. Its types are checked as by {@link route}. */
export function operation<Body extends z.ZodType, Query extends z.ZodType, Path extends z.ZodType>(
  definition: PartnerOperation<Body, Query, Path>,
): PartnerOperation {
  return definition as unknown as PartnerOperation;
}

/**
 * Defines a route of the partner API. Checks that the types of its schemas and its handler match, which the
 * type of the whole table cannot do.
 */
export function route<Body extends z.ZodType, Query extends z.ZodType, Path extends z.ZodType>(
  definition: PartnerRoute<Body, Query, Path>,
): PartnerRoute {
  return definition as unknown as PartnerRoute;
}
