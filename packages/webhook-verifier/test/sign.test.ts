import { describe, expect, it } from 'vitest';
import { type SignOptions, signWebhook, verify } from '../src/index.ts';
import { deliveryOf, event, now, secret, timestamp } from './support/delivery.ts';

const options = { secret, id: event.id, type: event.type, timestamp, partner: 'acme' };
const text = JSON.stringify(event);

describe('a signed delivery', () => {
  it('has every header of the wire, under the names of the specification', async () => {
    const { headers } = await signWebhook(text, options);
    expect(headers).toEqual(deliveryOf().headers);
    expect(Object.keys(headers)).toEqual(Object.keys(deliveryOf().headers));
  });

  it('carries the very bytes that it was given, or those of the string', async () => {
    const bytes = Buffer.from(text);
    expect((await signWebhook(bytes, options)).body).toBe(bytes);
    expect(Buffer.from((await signWebhook(text, options)).body)).toEqual(bytes);
  });

  it('is signed again for each attempt', async () => {
    const first = await signWebhook(text, options);
    const second = await signWebhook(text, { ...options, timestamp: timestamp + 60, attempt: 2 });
    expect(second.headers['X-SVC-Signature']).not.toBe(first.headers['X-SVC-Signature']);
    const { attempt } = await verify(second.body, second.headers, { secret, now: now + 60_000 });
    expect(attempt).toBe(2);
  });

  it('has the wire prefix in its header names', async () => {
    const { headers, body } = await signWebhook(text, { ...options, prefix: 'acme' });
    expect(Object.keys(headers)).toContain('X-ACME-Signature');
    expect((await verify(body, headers, { secret, now, prefix: 'acme' })).id).toBe(event.id);
  });

  it('may say any of its bytes', async () => {
    const odd = JSON.stringify({ ...event, data: '\u0000\u2028\uFFFD🦉' });
    const { headers, body } = await signWebhook(odd, options);
    expect((await verify(body, headers, { secret, now })).event).toEqual(JSON.parse(odd));
  });

  it('is never made with a weak secret or of a text that has no bytes', async () => {
    await expect(signWebhook(text, { ...options, secret: 'undefined' })).rejects.toMatchObject({
      code: 'weak_secret',
    });
    await expect(signWebhook('\uD800', options)).rejects.toMatchObject({ code: 'body_not_utf8' });
    await expect(signWebhook(event as never, options)).rejects.toMatchObject({ code: 'body_already_parsed' });
  });

  it.each<Partial<SignOptions>>([
    { timestamp: timestamp + 0.5 },
    { timestamp: timestamp * 1000 },
    { timestamp: 0 },
    { timestamp: Number.NaN },
    { attempt: 0 },
    { attempt: 1.5 },
    { attempt: 10_000 },
    { prefix: 'X-SVC' },
  ])('is never one that no receiver takes: %o', async (wrong) => {
    await expect(signWebhook(text, { ...options, ...wrong })).rejects.toThrow(TypeError);
  });
});
