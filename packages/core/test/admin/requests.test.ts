import { describe, expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';

/**
 * Starts a provider with a partner and its test key. The request log has the key's requests once they are
 * written.
 */
async function logged() {
  const { provider } = await partnerProvider();
  const key = await provider.key({ mode: 'test' });
  const owner = { partner: key.partner, mode: 'test' } as const;
  const { requests } = provider.ostiary.admin;
  return {
    provider,
    key,
    owner,
    requests,
    /** Sends a request at a time that no other request has, and returns its id once the log contains it. */
    async ask(target: string, body?: object): Promise<string> {
      provider.clock.advance(1);
      const { headers } = await provider.partnerCall(key, target, body);
      const id = headers.get('x-request-id') ?? '';
      await expect.poll(async () => (await requests.list(owner)).requests[0]?.id).toBe(id);
      return id;
    },
  };
}

describe('the log of requests, read by an operator,', () => {
  it('has the newest first, page by page, without bodies and without the owner', async () => {
    const { provider, key, owner, requests, ask } = await logged();
    const ids = [await ask('GET /v1/partner/whoami')];
    ids.unshift(await ask('POST /v1/partner/payments', { ...payment, amount: 'secret amount' }));
    ids.unshift(await ask('GET /v1/partner/payments'));
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await requests.list(owner, { limit: 2, ...(after !== '' && { after }) });
      seen.push(...page.requests.map(({ id }) => id));
      after = page.next;
    }
    expect(seen).toEqual(ids);
    const [newest] = (await requests.list(owner, { limit: 1 })).requests;
    expect(newest).toEqual({
      ...{ id: ids[0], keyId: key.id, method: 'GET', route: '/v1/partner/payments', status: 200 },
      ...{ code: null, durationMs: 0, createdAt: new Date(provider.clock.now()).toISOString() },
    });
    expect(JSON.stringify(await requests.list(owner))).not.toContain('secret amount');
  });

  it('has failed requests alone, if the operator asks for these', async () => {
    const { owner, requests, ask } = await logged();
    await ask('GET /v1/partner/whoami');
    const failed = await ask('GET /v1/partner/payments/tr_nobody');
    await ask('GET /v1/partner/whoami');
    const found = await requests.list(owner, { failed: true });
    expect(found).toMatchObject({ requests: [{ id: failed, status: 404, code: 'not_found' }], next: null });
  });

  it('has nothing of another partner or the other mode', async () => {
    const { provider, owner, requests, ask } = await logged();
    await ask('GET /v1/partner/whoami');
    const nothing = { requests: [], next: null };
    const { partner } = await provider.key();
    expect(await requests.list({ ...owner, mode: 'live' })).toEqual(nothing);
    expect(await requests.list({ ...owner, partner })).toEqual(nothing);
  });

  it.each([{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { after: '' }, { after: 'x' }, { after: '1_"' }])(
    'refuses the page %j',
    async (page) => {
      const { owner, requests } = await logged();
      await expect(requests.list(owner, page)).rejects.toThrow(TypeError);
    },
  );
});
