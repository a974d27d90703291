import { randomBytes } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { verify } from '@ostiary/webhook-verifier';
import { expect, it, vi } from 'vitest';
import { patient } from '../../../../../lab/support/patient.ts';
import { temporaryDatabase } from '../../support/partner-api.ts';
import type { Json } from '../../support/provider.ts';
import { hooks, secret, shop, webhookProvider } from '../webhook-shop.ts';

/** A webhook request that arrived in an inbox, as the partner API returns it. */
interface Shown {
  readonly id: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
  readonly signatureError: string | null;
  readonly answer: { readonly httpStatus: number | null; readonly error: string | null } | null;
}

/** Starts a provider with a partner and its inbox at the given URL, such as `inbox:200`. */
async function inboxOf(url: string) {
  const made = await shop();
  const id = await made.register(url);
  const requests = async (by = made.key): Promise<readonly Shown[]> =>
    (await made.call(`GET ${hooks}/${id}/requests`, undefined, by)).json().data as unknown as Shown[];
  return { ...made, id, requests };
}

/**
 * Starts a provider with an endpoint whose requests a program takes, and returns functions that make the calls
 * of that program.
 */
async function listener() {
  const inbox = await inboxOf('inbox:listen');
  const { call, key } = inbox;
  return {
    ...inbox,
    take: async (waitSeconds = 0, by = key): Promise<readonly Shown[]> =>
      (await call(`POST ${hooks}/${inbox.id}/take`, { waitSeconds }, by)).json().data as unknown as Shown[],
    answer: async (id: string, body: Json, by = key) =>
      await call(`POST /v1/partner/inbox/${id}/answer`, body, by),
  };
}

it('an inbox shows the signed request of an event, byte for byte, and the event counts as delivered', async () => {
  const { provider, id, trigger, work, requests, deliveries } = await inboxOf('inbox:200');
  const event = await trigger();
  await work();
  const [request, ...others] = await requests();
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    ...{ endpointId: id, method: 'POST', signatureError: null },
    receivedAt: new Date(provider.clock.now()).toISOString(),
    answer: { httpStatus: 200, error: null },
  });
  expect(request?.body).toBe(JSON.stringify(event));
  const headers = new Headers(request?.headers.map(({ name, value }) => [name, value]));
  const now = provider.clock.now();
  const verified = await verify(request?.body ?? '', headers, { secret, now });
  expect(verified).toMatchObject({ id: event.id, attempt: 1, event });
  expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: [{ httpStatus: 200 }] }]);
});

it('an inbox that fails shows how the attempts are repeated', async () => {
  const { provider, id, trigger, work, requests, deliveries } = await inboxOf('inbox:500');
  await trigger();
  await work();
  provider.clock.advance(60_000);
  await work();
  const attempts = [1, 2].map((number) => ({ number, error: 'status', httpStatus: 500 }));
  expect(await deliveries(id)).toMatchObject([{ status: 'pending', attempts }]);
  const numbers = (await requests()).map(
    ({ headers }) => headers.find(({ name }) => /attempt/i.test(name))?.value,
  );
  expect(numbers).toEqual(['2', '1']);
});

it('an inbox that does not answer ends the attempt after ten seconds', { timeout: 30_000 }, async () => {
  const { id, trigger, work, requests, deliveries } = await inboxOf('inbox:timeout');
  await trigger();
  await work();
  expect(await deliveries(id)).toMatchObject([{ status: 'pending', attempts: [{ error: 'timeout' }] }]);
  expect(await requests()).toMatchObject([{ answer: { httpStatus: null, error: 'timeout' } }]);
});

it('an inbox keeps the last 50 requests', async () => {
  const { provider, trigger, work, requests } = await inboxOf('inbox:200');
  const ids: unknown[] = [];
  for (let number = 0; number < 52; number += 1) {
    ids.push((await trigger()).id);
    await work();
    provider.clock.advance(1);
  }
  const kept = (await requests()).map(({ body }) => JSON.parse(body).id);
  expect(kept).toEqual(ids.slice(2).toReversed());
});

it('only test keys have inboxes, at the known URLs', async () => {
  const { provider, call, key, id } = await inboxOf('inbox:200');
  const live = await provider.key({ partner: key.partner, mode: 'live' });
  const refused = async (url: string, by = key) => {
    const answer = await call(`POST ${hooks}`, { url, events: ['*'], secret }, by);
    return [answer.status, (answer.json().details as Json[])[0]?.path];
  };
  expect(await refused('inbox:200', live)).toEqual([400, 'url']);
  for (const url of ['inbox:', 'inbox:204', 'inbox:toString', 'inbox:200#x', 'INBOX:200', ' inbox:200'])
    expect([url, await refused(url)]).toEqual([url, [400, 'url']]);
  const endpoint = await call(`POST ${hooks}`, { url: 'https://example.com/', events: ['*'], secret }, live);
  if (endpoint.status === 201) {
    const change = await call(`PATCH ${hooks}/${endpoint.json().id}`, { url: 'inbox:200' }, live);
    expect(change.status).toBe(400);
  }
  for (const target of [`GET ${hooks}/${id}/requests`, `POST ${hooks}/${id}/take`])
    expect((await call(target, undefined, live)).status).toBe(404);
});

it('no other partner sees, takes or answers the requests of an inbox', async () => {
  const { provider, id, key, trigger, work, take, answer, requests } = await listener();
  const other = await provider.key({ mode: 'test' });
  expect(other.partner).not.toBe(key.partner);
  await take();
  await trigger();
  const working = work();
  expect(await requests(other)).toBeUndefined();
  expect(await take(0, other)).toBeUndefined();
  const [request] = await take(5);
  expect(request).toBeDefined();
  const requestId = String(request?.id);
  expect((await answer(requestId, { httpStatus: 200 }, other)).json()).toEqual({ counted: false });
  const wrongs: Json[] = [{}, { httpStatus: 99 }, { error: 'aborted' }];
  for (const wrong of wrongs) expect((await answer(requestId, wrong)).status).toBe(400);
  expect((await answer(requestId, { httpStatus: 204 })).json()).toEqual({ counted: true });
  expect((await answer(requestId, { httpStatus: 500 })).json()).toEqual({ counted: false });
  await working;
  expect(await requests()).toMatchObject([{ id: requestId, endpointId: id, answer: { httpStatus: 204 } }]);
});

it('an attempt ends with what the listener answers', async () => {
  const { provider, id, trigger, work, take, answer, deliveries } = await listener();
  await take();
  await trigger();
  for (const [body, expected] of [
    [{ error: 'connection_refused' }, { httpStatus: null, error: 'connection_refused', response: null }],
    [{ httpStatus: 302 }, { httpStatus: 302, error: 'redirect', response: '' }],
    [
      { httpStatus: 500, response: 'no' },
      { httpStatus: 500, error: 'status', response: 'no' },
    ],
    [
      { httpStatus: 201, response: 'yes' },
      { httpStatus: 201, error: null, response: 'yes' },
    ],
  ] as const) {
    const working = work();
    const [request] = await take(5);
    await answer(String(request?.id), body);
    await working;
    const attempts = (await deliveries(id)).flatMap((delivery) => delivery.attempts as Json[]);
    expect(attempts.at(-1)).toMatchObject(expected);
    provider.clock.advance(2 * 3600_000);
    await take();
  }
  expect((await deliveries(id)).map(({ status }) => status)).toEqual(['delivered']);
});

it('without a listener attempts fail at once, and a request is handed out once', async () => {
  const { provider, id, trigger, work, take, answer, deliveries } = await listener();
  await trigger();
  await work();
  expect(await deliveries(id)).toMatchObject([{ attempts: [{ error: 'connection_refused' }] }]);
  await take();
  provider.clock.advance(31_000);
  await trigger();
  await work();
  expect(await deliveries(id)).toMatchObject([{ attempts: [{ error: 'connection_refused' }] }, {}]);
  await take();
  await trigger();
  const working = work();
  const taken = (await Promise.all([take(2), take(2)])).flat();
  expect(taken).toHaveLength(1);
  expect(await take()).toEqual([]);
  expect((await provider.partnerCall(null, `POST ${hooks}/${id}/take`)).status).toBe(401);
  await answer(String(taken[0]?.id), { httpStatus: 204 });
  await working;
});

it('a key that is revoked while a listener waits gets nothing more', async () => {
  const { provider, database, key, id, call, trigger, take, answer } = await listener();
  const waiting = call(`POST ${hooks}/${id}/take`, { waitSeconds: 20 });
  const other = await provider.key({ mode: 'test', partner: key.partner });
  await vi.waitFor(() => expect(database.calls).toContain('inbox.take'), patient);
  await provider.ostiary.admin.apiKeys.revoke(key.id);
  await trigger('webhook.test', other);
  const working = provider.ostiary.worker.runDue();
  expect((await waiting).status).toBe(401);
  const [request] = await take(5, other);
  await answer(String(request?.id), { httpStatus: 204 }, other);
  await working;
});

it('the endpoint that a killed listener left goes when the next one registers', async () => {
  const { provider, id, call, key, take, register } = await listener();
  await take();
  provider.clock.advance(3599_000);
  const second = await register('inbox:listen');
  provider.clock.advance(2_000);
  const third = await register('inbox:listen');
  const { data } = (await call(`GET ${hooks}`, undefined, key)).json();
  expect((data as Json[]).map((endpoint) => endpoint.id)).toEqual([second, third]);
  expect(id).not.toBe(second);
});

it('a listener at one process answers the attempt of another process', async () => {
  const file = temporaryDatabase();
  const sealingKeys = [randomBytes(32)];
  const { call, key, register, trigger, deliveries } = await shop({
    storage: sqliteStorage({ file }),
    sealingKeys,
  });
  const { provider: worker } = await webhookProvider({ storage: sqliteStorage({ file }), sealingKeys });
  const id = await register('inbox:listen');
  const take = async (waitSeconds: number) =>
    (await call(`POST ${hooks}/${id}/take`, { waitSeconds })).json().data as unknown as Shown[];
  await take(0);
  const waiting = take(10);
  await trigger();
  const working = worker.ostiary.worker.runDue();
  const [request] = await waiting;
  await worker.partnerCall(key, `POST /v1/partner/inbox/${request?.id}/answer`, { httpStatus: 202 });
  await working;
  expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: [{ httpStatus: 202 }] }]);
});
