import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, RequestOptions } from '../options.ts';
import type { Mode } from './open.ts';

/** Owner, mode and scopes of an API key, and the caller's IP address. */
export interface Whoami {
  /** Slug (short name) of your partner account. */
  readonly partner: string;
  readonly mode: Mode;
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly string[];
    /** True if requests with a body need a signature. */
    readonly requireSignature: boolean;
    readonly expiresAt: string | null;
  };
  /** IP address from which your requests arrive at the server; `null` if unknown. */
  readonly address: string | null;
}

export function whoami(connection: Connection, options?: RequestOptions): ApiPromise<Whoami> {
  return call(connection, { path: '/v1/partner/whoami' }, options);
}
