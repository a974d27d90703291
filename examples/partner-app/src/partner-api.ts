import { createHmac } from 'node:crypto';
import type { PartnerApiKey } from './config.ts';

// The partner API without a library: an API key, signed bodies, and fetch. All of it happens on the server.

/** A transfer, as far as the shop shows it. */
export interface Transfer {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
  readonly currency: string;
  readonly description: string | null;
  /** Why it failed, or `null`. */
  readonly failure: string | null;
  readonly createdAt: string;
}

/** What a passport says. */
export interface Verification {
  readonly user: Readonly<Record<string, unknown>>;
  readonly expiresAt: string;
}

/** The partner API said no, or could not be asked. */
export class PartnerApiError extends Error {
  override readonly name = 'PartnerApiError';
  /** A code of the API, or `unreachable` or `unexpected_answer`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What the shop does with the partner API. Every call may throw {@link PartnerApiError}. */
export interface PartnerApi {
  verify(passport: string): Promise<Verification>;
  /** Paying twice with one idempotency key pays once, and answers the same transfer. */
  pay(payment: {
    readonly kid: string;
    readonly amount: string;
    readonly currency: string;
    readonly description: string;
    readonly idempotencyKey: string;
  }): Promise<Transfer>;
  inspect(id: string): Promise<Transfer>;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

/** A transfer of an answer or an event. @throws {@link PartnerApiError} when it is none */
export function transferOf(value: unknown): Transfer {
  const { id, status, amount, currency, description, failure, createdAt } = fieldsOf(value);
  if (
    typeof id !== 'string' ||
    typeof status !== 'string' ||
    typeof amount !== 'string' ||
    typeof currency !== 'string' ||
    typeof createdAt !== 'string'
  ) {
    throw new PartnerApiError('unexpected_answer', 'This is no transfer.');
  }
  const message = fieldsOf(failure).message;
  return {
    ...{ id, status, amount, currency, createdAt },
    description: typeof description === 'string' ? description : null,
    failure: typeof message === 'string' ? message : null,
  };
}

/** See {@link PartnerApi}. */
export function createPartnerApi(baseUrl: string, { key, signingSecret }: PartnerApiKey): PartnerApi {
  // The service's prefix stands in front of its keys, and names its headers.
  const prefix = key.split('_', 1)[0] ?? 'svc';

  async function call(path: string, init: RequestInit): Promise<Fields> {
    let response: Response;
    let answer: Fields;
    try {
      response = await fetch(new URL(path, baseUrl), {
        ...init,
        headers: { 'X-API-Key': key, Accept: 'application/json', ...init.headers },
        // A redirect would carry the key along.
        redirect: 'error',
        signal: AbortSignal.timeout(10_000),
      });
      answer = fieldsOf(await response.json());
    } catch (cause) {
      throw new PartnerApiError('unreachable', 'The partner API did not answer.', { cause });
    }
    if (response.ok) return answer;
    const { code, message } = answer;
    throw new PartnerApiError(
      typeof code === 'string' ? code : 'unexpected_answer',
      typeof message === 'string' ? message : `The partner API answered ${response.status}.`,
    );
  }

  function post(
    path: string,
    content: Fields,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Fields> {
    // The signature covers the bytes that are sent, so they are made once.
    const body = JSON.stringify(content);
    return call(path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        [`X-${prefix}-Timestamp`]: String(Date.now()),
        [`X-${prefix}-Signature`]: createHmac('sha256', signingSecret).update(body).digest('hex'),
        ...headers,
      },
      body,
    });
  }

  return {
    async verify(passport) {
      const { user, expiresAt } = await post('/v1/partner/verify', { token: passport });
      if (typeof expiresAt !== 'string')
        throw new PartnerApiError('unexpected_answer', 'The answer is incomplete.');
      return { user: fieldsOf(user), expiresAt };
    },
    async pay({ kid, amount, currency, description, idempotencyKey }) {
      return transferOf(
        await post(
          '/v1/partner/payments',
          { amount, currency, recipient: { kid }, description },
          { 'Idempotency-Key': idempotencyKey },
        ),
      );
    },
    async inspect(id) {
      return transferOf(await call(`/v1/partner/payments/${encodeURIComponent(id)}`, {}));
    },
  };
}
