import { afterEach, expect, it } from 'vitest';
import { isClientId } from '../../src/oauth/client.ts';
import { ana } from '../support/directory.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

const names = Object.getOwnPropertyNames(Object.prototype);
const before = [...names].sort();
const { provider } = await partnerProvider();

afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype).sort()).toEqual(before);
  for (const key in {}) throw new Error(`Object.prototype has ${key}`);
});

it.each(names)(
  '%s is refused as an id of a client, in imports too, and no stored client of it is found',
  async (name) => {
    await expect(provider.client({ clientId: name })).rejects.toThrow(TypeError);
    const consent = { sub: ana.sub, clientId: name, scopes: ['openid'] } as const;
    await expect(provider.ostiary.admin.consents.import([consent])).rejects.toThrow(TypeError);
    expect(isClientId(name)).toBe(false);
    const client = { id: name, secret: 'x'.repeat(40), redirectUri: 'https://app.example/callback' };
    expect(await provider.attempt(client)).toBe('401 invalid_client');
    expect(await provider.redeem(client, 'x')).toBe('401 invalid_client');
  },
);

it.each(names)('%s is refused as a scope, a claim and a key of metadata', async (name) => {
  const words = { title: 'A', detail: 'B' };
  const consent = { en: words, fr: words };
  await expect(startProvider({ scopes: Object.fromEntries([[name, { consent }]]) })).rejects.toThrow(
    TypeError,
  );
  const schema = {
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  } as const;
  const claims = Object.fromEntries([[name, schema]]);
  await expect(startProvider({ scopes: { orders: { claims, consent } } })).rejects.toThrow(TypeError);
  const metadata = Object.fromEntries([[name, 'x']]);
  const body = { ...payment, metadata };
  const answer = await provider.partnerCall(await provider.key(), 'POST /v1/partner/payments', body);
  expect(answer.status).toBe(400);
});

it('constructor is refused as the slug of a partner', async () => {
  await expect(provider.partner('constructor')).rejects.toThrow(TypeError);
});

it.each(names)(
  '%s as a user or a reference changes no prototype: sign-in, payment, end of access',
  async (name) => {
    provider.host.people.set(name, { ...ana, sub: name, kid: name });
    const client = await provider.client();
    expect(await provider.isAlive(await provider.token(client, 'openid', provider.browser(name)))).toBe(true);
    const body = { ...payment, recipient: { kid: name }, reference: name };
    const paid = await provider.partnerCall(await provider.key(), 'POST /v1/partner/payments', body);
    expect(paid.status).toBe(201);
    await provider.ostiary.worker.runDue();
    await provider.ostiary.users.end(name);
  },
);
