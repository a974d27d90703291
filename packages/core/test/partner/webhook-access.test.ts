import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { manyRequests } from '../support/partner-api.ts';
import { register, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { body, hooks, shop, url } from './webhook-shop.ts';

describe('who may manage webhook endpoints', () => {
  const others = [
    'identity:verify',
    'payments:write',
    'payments:read',
    'users:read',
    'reconciliation:read',
  ] as const;
  const targets: readonly (readonly [string, unknown])[] = [
    [`POST ${hooks}`, body],
    [`GET ${hooks}`, undefined],
    [`GET ${hooks}/we_${'0'.repeat(32)}`, undefined],
    [`PATCH ${hooks}/we_${'0'.repeat(32)}`, { enabled: true }],
    [`DELETE ${hooks}/we_${'0'.repeat(32)}`, undefined],
    [`GET ${hooks}/we_${'0'.repeat(32)}/deliveries`, undefined],
    [`POST ${hooks}/we_${'0'.repeat(32)}/recover`, { since: '2026-01-01T00:00:00Z' }],
    ['GET /v1/partner/events', undefined],
    [`POST /v1/partner/events/evt_${'0'.repeat(32)}/redeliver`, {}],
    ['POST /v1/partner/sandbox/events', { type: 'webhook.test' }],
  ];

  it.each(targets)('%s needs a key with the scope webhooks', async (target, payload) => {
    const { provider, call } = await shop();
    const mode = target.includes('sandbox') ? 'test' : 'live';
    const powerless = await provider.key({ mode, scopes: others });
    expect(blamed(await call(target, payload, null), 401, 'invalid_api_key')).toEqual([]);
    expect(blamed(await call(target, payload, powerless), 403, 'insufficient_scope')).toEqual([]);
    const able = await provider.key({ mode, scopes: ['webhooks'] });
    expect([200, 201, 404]).toContain((await call(target, payload, able)).status);
  });

  it('a key that has to sign signs changes too, and nothing that has no body', async () => {
    const { provider } = await shop();
    const key = await provider.key({ requireSignature: true });
    const send = (target: string, payload?: unknown, tampered = '') => {
      const text = payload === undefined ? undefined : JSON.stringify(payload);
      const signature = createHmac('sha256', key.signingSecret).update(`${text}${tampered}`).digest('hex');
      const signed = { 'x-svc-signature': signature, 'x-svc-timestamp': String(provider.clock.now()) };
      return provider.partnerCall(key, target, text, text === undefined ? {} : signed);
    };
    const made = await send(`POST ${hooks}`, body);
    expect(made.status).toBe(201);
    const one = `${hooks}/${made.json().id}`;
    expect(blamed(await send(`PATCH ${one}`, { enabled: false }, 'x'), 401, 'invalid_signature')).toEqual([]);
    const unsigned = await provider.partnerCall(key, `PATCH ${one}`, { enabled: false });
    expect(blamed(unsigned, 401, 'invalid_signature')).toEqual([]);
    expect((await send(`GET ${one}`)).json()).toMatchObject({ enabled: true });
    expect((await send(`PATCH ${one}`, { enabled: false })).json()).toMatchObject({ enabled: false });
    expect((await send(`DELETE ${one}`)).status).toBe(200);
  });

  it('bodies are JSON of 64 KiB at most', async () => {
    const { provider, key } = await shop();
    const id = await register(provider, key, url);
    for (const target of [`POST ${hooks}`, `PATCH ${hooks}/${id}`, `POST ${hooks}/${id}/recover`]) {
      const text = { 'content-type': 'text/plain' };
      expect(blamed(await provider.partnerCall(key, target, '{}', text), 415)).toEqual([]);
      expect(blamed(await provider.partnerCall(key, target, ' '.repeat(64 * 1024 + 1)), 413)).toEqual([]);
      for (const bad of ['', '{', '{"url":1,"url":1}', '{"__proto__":{}}', '['.repeat(40) + ']'.repeat(40)])
        expect((await provider.partnerCall(key, target, bad)).status, bad).toBe(400);
    }
  });

  it('all of these are counted in the bucket of everything else', async () => {
    const { provider } = await webhookProvider({
      partnerLimits: { ...manyRequests, other: { requests: targets.length, windowSeconds: 60 } },
    });
    const key = await provider.key({ mode: 'test' });
    for (const [index, [target, payload]] of targets.entries()) {
      const answer = await provider.partnerCall(key, target, payload);
      expect([200, 201, 404], target).toContain(answer.status);
      expect([answer.headers.get('x-ratelimit-remaining'), target]).toEqual([
        String(targets.length - index - 1),
        target,
      ]);
    }
    for (const [target, payload] of targets)
      expect((await provider.partnerCall(key, target, payload)).status, target).toBe(429);
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(429);
    expect((await provider.partnerCall(key, 'GET /v1/partner/users/KID-TEST-APPROVED')).status).toBe(200);
  });
});
