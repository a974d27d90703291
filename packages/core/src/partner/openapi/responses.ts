import { type PartnerErrorCode, partnerErrors } from '../../errors.ts';
import type { PartnerRoute } from '../request.ts';
import type { Json } from './json-schema.ts';

/** Response headers of the partner API, by the name of their OpenAPI component. */
const headers = {
  RequestId: {
    header: 'X-Request-Id',
    description: 'Id of the request. Quote it when you ask for help.',
    schema: { type: 'string', examples: ['4b1d7f0e-8a53-4c39-9a56-0d2f6c1b7e21'] },
  },
  RateLimitLimit: {
    header: 'X-RateLimit-Limit',
    description: 'Number of requests that the limit allows in its window.',
    schema: { type: 'integer', examples: [120] },
  },
  RateLimitRemaining: {
    header: 'X-RateLimit-Remaining',
    description: 'Number of requests that are left in the window.',
    schema: { type: 'integer', examples: [119] },
  },
  RateLimitReset: {
    header: 'X-RateLimit-Reset',
    description: 'Time at which the window ends, in Unix seconds.',
    schema: { type: 'integer', format: 'int64', examples: [1767268860] },
  },
  RetryAfter: {
    header: 'Retry-After',
    description: 'Number of seconds to wait before the next request.',
    schema: { type: 'integer', examples: [1] },
  },
  IdempotentReplayed: {
    header: 'Idempotent-Replayed',
    description:
      '`true` if the response is that of an earlier request with the same `Idempotency-Key`; absent otherwise.',
    schema: { type: 'string', enum: ['true'], examples: ['true'] },
  },
  FileName: {
    header: 'Content-Disposition',
    description: 'Name for the file, if the response is not JSON.',
    schema: { type: 'string', examples: ['attachment; filename="reconciliation-2026-01-01.csv"'] },
  },
} as const;

type HeaderName = keyof typeof headers;

/** OpenAPI components of the response headers. */
export const headerComponents: Json = Object.fromEntries(
  Object.entries(headers).map(([name, { description, schema }]) => [name, { description, schema }]),
);

function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(
    names.map((name) => [headers[name].header, { $ref: `#/components/headers/${name}` }]),
  );
}

const counted = ['RequestId', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'] as const;

/** Returns the headers of a route's successful response. */
export function successHeaders(route: PartnerRoute): Json {
  return headersOf([
    ...counted,
    ...(route.idempotent ? (['IdempotentReplayed'] as const) : []),
    ...(route.success.texts === undefined ? [] : (['FileName'] as const)),
  ]);
}

/** An error response in the OpenAPI description: its status, and the error codes that it can have. */
interface ErrorAnswer {
  readonly status: number;
  readonly codes: readonly PartnerErrorCode[];
  /** Description of the error response, instead of the one derived from its error codes. */
  readonly description?: string;
  /** Response headers of the error. @defaultValue the request id and the rate limit headers */
  readonly headers?: readonly HeaderName[];
  /** Selects the routes that can have this error response. @defaultValue every route */
  readonly of?: (route: PartnerRoute) => boolean;
}

const hasBody = (route: PartnerRoute): boolean => route.body !== undefined;

/** Error responses of the partner API, by the name of their OpenAPI component. */
const errorAnswers: { readonly [name: string]: ErrorAnswer } = {
  BadRequest: {
    status: 400,
    codes: ['invalid_request'],
    description: 'A field, parameter or header is missing or malformed; `details` names it.',
  },
  Unauthorized: {
    status: 401,
    codes: ['invalid_api_key', 'invalid_signature'],
  },
  Forbidden: {
    status: 403,
    codes: ['insufficient_scope', 'ip_not_allowed'],
    headers: ['RequestId'],
    of: ({ scope }) => scope !== null,
  },
  AddressForbidden: {
    status: 403,
    codes: ['ip_not_allowed'],
    headers: ['RequestId'],
    of: ({ scope }) => scope === null,
  },
  NotFound: { status: 404, codes: ['not_found'] },
  BodyTooSlow: {
    status: 408,
    codes: ['invalid_request'],
    description: 'The body took too long to arrive.',
    of: hasBody,
  },
  Conflict: {
    status: 409,
    codes: ['idempotency_conflict'],
    of: ({ idempotent }) => idempotent === true,
  },
  BodyTooLarge: {
    status: 413,
    codes: ['invalid_request'],
    description: 'The body is larger than 64 KiB.',
    of: hasBody,
  },
  UnsupportedMediaType: {
    status: 415,
    codes: ['invalid_request'],
    description: 'The body is not `application/json`, or it is encoded.',
    of: hasBody,
  },
  PassportExpired: {
    status: 422,
    codes: ['token_expired'],
    of: ({ operation }) => operation === 'verifyPassport',
  },
  TooManyRequests: {
    status: 429,
    codes: ['rate_limit_exceeded'],
    headers: [...counted, 'RetryAfter'],
  },
  InternalError: {
    status: 500,
    codes: ['internal_error'],
    description: 'The service has a defect. Repeat the request with growing pauses.',
  },
  Unavailable: {
    status: 503,
    codes: ['internal_error'],
    description:
      'The database cannot be reached, the host that looks users up does not answer in time, or an earlier request with the same `Idempotency-Key` has not finished. The request changed nothing, unless the connection to the database broke during the commit. Repeat the request with the same `Idempotency-Key`.',
    headers: [...counted, 'RetryAfter'],
  },
};

/** Returns an example of an error response with the given error code. */
function errorExample(code: PartnerErrorCode): Json {
  return {
    value: { code, message: partnerErrors[code].text, requestId: headers.RequestId.schema.examples[0] },
  };
}

/** OpenAPI components of the error responses, each with an example of every code. */
export const errorComponents: Json = Object.fromEntries(
  Object.entries(errorAnswers).map(([name, { codes, description, headers: names = counted }]) => [
    name,
    {
      description:
        description ?? codes.map((code) => `\`${code}\`: ${partnerErrors[code].when}`).join('\n\n'),
      headers: headersOf(names),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
        },
      },
    },
  ]),
);

/** Returns the error responses of a route, by status. */
export function errorResponses(route: PartnerRoute): Json {
  return Object.fromEntries(
    Object.entries(errorAnswers)
      .filter(([, { of: isOf = () => true }]) => isOf(route))
      .map(([name, { status }]) => [String(status), { $ref: `#/components/responses/${name}` }]),
  );
}
