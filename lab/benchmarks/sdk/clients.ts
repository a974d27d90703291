import { OstiaryPartner } from '@ostiary/client-sdk';
import { apiKey, type CallName, callNames, operations, passport, payment, transferId } from './fixture.ts';

/** A compared API client: each call returns the parsed data. */
type Client = { readonly [Name in CallName]: (signal?: AbortSignal) => Promise<unknown> };

/**
 * Makes an API client as written without an SDK: no time-out, no retry, and no check of the response but its
 * status.
 */
export function bareClient(origin: string): Client {
  const callers = callNames.map((name) => {
    const { method, path, body, isKeyed } = operations[name];
    const call = async (signal?: AbortSignal): Promise<unknown> => {
      const headers: Record<string, string> = { 'X-API-Key': apiKey };
      if (body !== undefined) headers['Content-Type'] = 'application/json';
      if (isKeyed) headers['Idempotency-Key'] = crypto.randomUUID();
      const response = await fetch(origin + path, {
        method,
        headers,
        redirect: 'manual',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      if (!response.ok) throw new Error(`${name} was answered with ${response.status}`);
      return await response.json();
    };
    return [name, call] as const;
  });
  return Object.fromEntries(callers) as unknown as Client;
}

export function ostiaryClient(baseUrl: string): Client {
  const ostiary = new OstiaryPartner({ apiKey, baseUrl });
  return {
    verify: (signal) => ostiary.passports.verify(passport, { signal }),
    create: (signal) => ostiary.payments.create(payment, { signal }),
    retrieve: (signal) => ostiary.payments.retrieve(transferId, { signal }),
    list: async (signal) => (await ostiary.payments.list({ limit: 25 }, { signal }).page()).body,
  };
}
