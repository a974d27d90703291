import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { type Answer, answerOf } from '../../../../../packages/core/test/support/browser.ts';
import { checkUserinfo } from '../flow.ts';
import { type Change, prover } from './requests.ts';
import type { SignedIn } from './tokens.ts';

/**
 * Maximum difference between the `Date` header of a response and the current time, in milliseconds, as in the
 * original conformance suite.
 */
const dateToleranceMs = 300_000;

/** Optional variations of a request to userinfo, the protected resource of the conformance modules. */
export interface ResourceOptions {
  /** Key pair of the DPoP proof; `null` sends the access token as a bearer token without a proof. */
  readonly keys?: oauth.CryptoKeyPair | null;
  readonly changeProof?: Change;
  /** Query of the userinfo URL, with its question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the finished headers of the userinfo request. */
  readonly changeHeaders?: (headers: Readonly<Record<string, string>>) => OutgoingHttpHeaders;
}

/** Makes the headers that financial APIs take from their clients. The provider must ignore them. */
const financialHeaders = () => ({
  'x-fapi-auth-date': new Date().toUTCString(),
  'x-fapi-customer-ip-address': '198.51.100.119',
  'x-fapi-interaction-id': randomUUID(),
});

/** Returns the headers with which the OAuth library calls userinfo. */
export async function resourceHeaders(
  flow: SignedIn,
  { keys = flow.keys, changeProof, headers = financialHeaders() }: ResourceOptions = {},
): Promise<Record<string, string>> {
  let sent: Record<string, string> = {};
  await oauth.protectedResourceRequest(
    ...([flow.accessToken, 'GET', new URL(flow.suite.endpoint('userinfo'))] as const),
    ...([new Headers(headers), null] as const),
    {
      [oauth.customFetch]: async (_url, given) => {
        sent = given.headers;
        return new Response();
      },
      ...(keys !== null && { DPoP: prover(flow, keys, changeProof) }),
    },
  );
  return sent;
}

/**
 * Calls userinfo as the protected resource. `fetch` would join repeated headers and write header names in
 * lower case, so the request is made without `fetch`.
 */
export async function callUserinfo(flow: SignedIn, options: ResourceOptions = {}): Promise<Answer> {
  const { query = '', changeHeaders = (headers) => headers } = options;
  const headers = changeHeaders(await resourceHeaders(flow, options));
  const { pathname } = new URL(flow.suite.endpoint('userinfo'));
  const sent = request(new URL(pathname + query, flow.suite.origin), { headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headersDistinct } = response;
  const received = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return answerOf(new Response(await text(response), { status, headers: received }));
}

/** Checks the response to a userinfo request with a valid access token and DPoP proof. */
export function checkUserinfoCall({ claims }: Pick<SignedIn, 'claims'>, answer: Answer): void {
  checkUserinfo(answer, String(claims.sub));
  const date = Date.parse(answer.headers.get('date') ?? '');
  expect(Math.abs(date - Date.now())).toBeLessThan(dateToleranceMs);
}
