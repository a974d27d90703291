import { onTestFinished } from 'vitest';
import {
  createTestOstiary,
  type TestKey,
  type TestOstiary,
  type TestOstiaryOptions,
} from '../../src/index.ts';

/** Starts a test kit that closes at the end of the test. */
export async function newKit(options?: TestOstiaryOptions): Promise<TestOstiary> {
  const kit = await createTestOstiary(options);
  onTestFinished(() => kit.close());
  return kit;
}

export type Json = Record<string, unknown>;

/** Calls the partner API, such as `POST /v1/partner/verify`. */
export async function call(
  kit: TestOstiary,
  target: string,
  body?: Json,
  init: {
    readonly key?: TestKey;
    readonly headers?: Record<string, string>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly json: Json }> {
  const [method = '', path = ''] = target.split(' ');
  const { key = kit.keys.live, headers = {}, signal } = init;
  const response = await kit.fetch(kit.baseUrl + path, {
    method,
    headers: { 'x-api-key': key.key, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    json: text === '' ? {} : (JSON.parse(text) as Json),
  };
}

/** Returns the request body of a payment to the first user of the test kit. */
const payment = (kit: TestOstiary, fields: Json = {}): Json => ({
  amount: '125.00',
  currency: 'HTG',
  recipient: { kid: kit.user.kid },
  ...fields,
});

export const pay = async (kit: TestOstiary, fields: Json = {}, headers: Record<string, string> = {}) =>
  call(kit, 'POST /v1/partner/payments', payment(kit, fields), { headers });
