import { afterAll, describe, expect, it } from 'vitest';
import { fragileStorage } from '../../support/fragile-storage.ts';
import { TestProvider } from '../../support/provider.ts';

describe('what Ostiary makes reachable of it', () => {
  it.each([
    '/auth',
    '/token',
    '/me',
    '/jwks',
    '/session/end',
    '/request',
    '/reg',
    '/device',
    '/backchannel',
    '/introspect',
    '/revoke',
    '/oauth/par',
    '/v1/oauth/introspect',
    '/v1/oauth/par',
    '/oauth/device',
  ])('is nothing at %s', async (path) => {
    const provider = await started;
    for (const method of ['GET', 'POST']) {
      expect((await provider.request(path, { method })).status).toBe(404);
    }
  });

  it('touches these stores in a whole flow, and no other', async () => {
    const provider = await started;
    const client = await provider.client();
    database.forget();
    await provider.token(client);
    expect(new Set(database.calls)).toEqual(
      new Set([
        'clients.find',
        'consents.find',
        'consents.remember',
        'interactions.count',
        'interactions.save',
        'interactions.replace',
        'interactions.find',
        'interactions.remove',
        'grants.issue',
        'grants.find',
        'grants.redeem',
        'rateLimits.consume',
        'rateLimits.peek',
      ]),
    );
  });

  const database = fragileStorage();
  const started = TestProvider.start({ storage: database.storage });
  afterAll(async () => (await started).stop());
});
