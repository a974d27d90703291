import { createHmac, randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { blamed } from '../partner/refusal.ts';
import { body, hooks, shop } from '../partner/webhook-shop.ts';
import { descriptionOf } from '../support/openapi.ts';
import { sink } from './support/sink.ts';

const withOption = { webhooks: { standardHeaders: true } };
const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
const added = ['webhook-id', 'webhook-signature', 'webhook-timestamp'];

/** Delivers one event to an endpoint with the given secret. Returns the request that arrived. */
async function delivered(options: Parameters<typeof shop>[0], endpointSecret = secret) {
  const service = await shop(options);
  const endpoint = await sink();
  await service.register(endpoint.url, { secret: endpointSecret });
  const { id } = await service.trigger();
  await service.work();
  const [request] = endpoint.received;
  if (request === undefined) throw new Error('nothing was delivered');
  return { ...request, eventId: id };
}

describe('headers of Standard Webhooks', () => {
  it('are added to those of Ostiary, with the signature over id, timestamp and body', async () => {
    const { headers, body: bytes, eventId } = await delivered(withOption);
    const { 'x-svc-timestamp': timestamp } = headers;
    const signed = createHmac('sha256', key).update(`${eventId}.${timestamp}.${bytes}`).digest('base64');
    expect(headers).toMatchObject({
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signed}`,
      'x-svc-eventid': eventId,
      // The other signature is made with the bytes of the whole secret, as always.
      'x-svc-signature': createHmac('sha256', secret).update(`${timestamp}.${bytes}`).digest('hex'),
    });
  });

  it('are not there without the option, and nothing else is another', async () => {
    const [off, on] = [await delivered({}), await delivered(withOption)];
    const names = (headers: object) => Object.keys(headers).sort();
    expect(names(off.headers).filter((name) => name.startsWith('webhook'))).toEqual([]);
    expect(names(on.headers)).toEqual([...names(off.headers), ...added].sort());
  });

  it('are signed with the bytes of a whsec_ secret from before that is no base64', async () => {
    const shared = { storage: memoryStorage(), sealingKeys: [randomBytes(32)] };
    const before = await shop(shared);
    const endpoint = await sink();
    const olderSecret = 'whsec_not-base64-0123456789abcdef';
    await before.register(endpoint.url, { secret: olderSecret });
    const { id } = await before.trigger();
    await (await shop({ ...shared, ...withOption })).work();
    const [{ headers = {}, body: bytes } = {}] = endpoint.received;
    const signed = createHmac('sha256', olderSecret)
      .update(`${id}.${headers['webhook-timestamp']}.${bytes}`)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signed}`);
  });
});

describe('a secret, with that option', () => {
  it.each([
    ['shorter than 24 bytes', `whsec_${randomBytes(23).toString('base64')}`],
    ['longer than 64 bytes', `whsec_${randomBytes(65).toString('base64')}`],
    ['no base64', 'whsec_not-base64-0123456789abcdef'],
    ['base64url', `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`],
    ['without its padding', secret.slice(0, -1)],
  ])('is refused behind whsec_ if it is %s', async (_, refused) => {
    const { call, register } = await shop(withOption);
    const answer = await call(`POST ${hooks}`, { ...body, secret: refused });
    expect(blamed(answer)).toEqual(['secret']);
    expect(answer.text).toContain('base64 of 24 to 64 bytes');
    expect(answer.text).not.toContain(refused);
    const id = await register(undefined, { secret });
    expect(blamed(await call(`PATCH ${hooks}/${id}`, { secret: refused }))).toEqual(['secret']);
  });

  it.each([24, 64])('is accepted as the base64 of %i bytes', async (length) => {
    const { register } = await shop(withOption);
    await register(undefined, { secret: `whsec_${randomBytes(length).toString('base64')}` });
  });

  it('is accepted without whsec_ as the bytes that it has', async () => {
    const text = 'any sixteen characters and more';
    const { headers, body: bytes, eventId } = await delivered(withOption, text);
    const timestamp = headers['webhook-timestamp'];
    const signed = createHmac('sha256', text).update(`${eventId}.${timestamp}.${bytes}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signed}`);
  });
});

it('are described in OpenAPI, with an example of a secret that is accepted', async () => {
  const [on, off] = [await shop(withOption), await shop()];
  const names = async ({ provider }: typeof on) =>
    (await descriptionOf(provider)).webhooks['webhook.test']?.post.parameters.map(({ name }) => name) ?? [];
  expect((await names(on)).filter((name) => !name.startsWith('X-')).sort()).toEqual(added);
  expect((await names(off)).filter((name) => !name.startsWith('X-'))).toEqual([]);
  const described = JSON.stringify((await descriptionOf(on.provider)).components.schemas);
  const [example = ''] = /whsec_[\w+/=]+/.exec(described) ?? [];
  await on.register(undefined, { secret: example });
});
