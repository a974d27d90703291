import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { reader, type Shown, wire } from '../partner/request-reader.ts';

/** Formats a request as it is sent over the wire. */
function textOf({ method, url, headers, body }: Shown): string {
  const { pathname, search } = new URL(url);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

it('the request of each attempt is shown byte for byte as the endpoint got it', async () => {
  const { provider, key, call, register, work, read } = await reader();
  const endpoint = await wire();
  await register(endpoint.url);
  const data = { message: 'é 🗝️ "\u2028" $HOME `x` \\' };
  const event = (await call('POST /v1/partner/sandbox/events', { type: 'webhook.test', data })).json();
  await work();
  provider.clock.advance(61_234);
  await work();
  endpoint.status = 204;
  provider.clock.advance(60_000);
  await work();
  expect(endpoint.requests).toHaveLength(3);
  const [attempts = []] = await read(key, String(event.id));
  expect(attempts.map((request) => request && textOf(request))).toEqual(endpoint.requests);
  const numbers = endpoint.requests.map((text) => /x-svc-attempt: (\d+)/i.exec(text)?.[1]);
  expect(numbers).toEqual(['1', '2', '3']);
  expect(new Set(endpoint.requests.map((text) => /x-svc-signature: (\w+)/i.exec(text)?.[1])).size).toBe(3);
  expect(attempts.map((request) => request?.changedAt)).toEqual([null, null, null]);
});

it('says when the endpoint was changed after the attempt, or no more than a second before it', async () => {
  const { provider, key, call, register, trigger, work, read } = await reader();
  const endpoint = await wire();
  const id = await register(endpoint.url);
  const event = String((await trigger()).id);
  // Registering an endpoint does not count as a change of it.
  await work();
  const changedAt = async () => (await read(key, event))[0]?.map((request) => request?.changedAt ?? null);
  expect(await changedAt()).toEqual([null]);
  provider.clock.advance(59_500);
  await call(`PATCH /v1/partner/webhooks/${id}`, { url: `${endpoint.url}&new` });
  const change = new Date(provider.clock.now()).toISOString();
  provider.clock.advance(500);
  await work();
  provider.clock.advance(60_000);
  await work();
  expect(await changedAt()).toEqual([change, change, null]);
  const [[first] = []] = await read(key, event);
  expect(first?.url).toBe(`${endpoint.url}&new`);
  await call(`DELETE /v1/partner/webhooks/${id}`);
  expect(await read(key, event)).toEqual([[null, null, null]]);
});

it('is not shown where the secret of the endpoint cannot be decrypted any more, and the log says so', async () => {
  const storage = memoryStorage();
  const { provider, key, register, trigger, work, read } = await reader({ storage });
  const id = await register((await wire()).url);
  const event = String((await trigger()).id);
  await work();
  const endpoint = await storage.webhooks.find({ partner: key.partner, mode: 'test' }, id);
  if (endpoint === null) throw new Error('there is no endpoint');
  const broken = { ...endpoint, sealedSecret: 'unreadable', version: endpoint.version + 1 };
  await storage.webhooks.replace(broken, provider.clock.now());
  expect(await read(key, event)).toEqual([[null]]);
  expect(provider.logged.at(-1)).toMatchObject({
    level: 'warn',
    fields: { endpoint: id },
    message: 'the request of a webhook delivery cannot be made again',
  });
});
