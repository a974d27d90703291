import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { basic, pkce, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/** Everything of an answer that its caller sees, except for the time and the request id. */
function seen(answer: Answer): object {
  const { date: _, 'x-request-id': __, ...headers } = Object.fromEntries(answer.headers);
  return {
    status: answer.status,
    headers,
    body: answer.text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'REQUEST'),
  };
}

/** That all answers are alike, and of this outcome. */
async function expectAlike(outcome: string, asked: readonly Promise<Answer>[]): Promise<void> {
  const [first, ...others] = await Promise.all(asked);
  expect(first?.outcome).toBe(outcome);
  for (const answer of others) expect(seen(answer)).toEqual(seen(first as Answer));
}

describe('answers that must not tell one secret from another', () => {
  it('an unknown client, a wrong secret, a disabled client and a public one with a secret are alike', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const publicClient = await provider.client({ public: true });
    const disabled = await provider.client();
    await provider.ostiary.admin.clients.disable(disabled.id);
    const code = await provider.code(client);
    const attempts = [
      { client_id: client.id, client_secret: 'wrong' },
      { client_id: client.id, client_secret: `${client.secret?.slice(0, -1)}` },
      { client_id: 'stranger', client_secret: 'wrong' },
      { client_id: 'stranger', client_secret: client.secret },
      { client_id: '__proto__', client_secret: 'wrong' },
      { client_id: '../x', client_secret: 'wrong' },
      { client_id: 'x'.repeat(256), client_secret: 'wrong' },
      { client_id: 'a b\u00e9', client_secret: 'wrong' },
      { client_id: publicClient.id, client_secret: 'wrong' },
      { client_id: disabled.id, client_secret: disabled.secret },
      { client_id: disabled.id, client_secret: undefined, code_verifier: pkce().verifier },
      { client_id: 'stranger', client_secret: undefined, code_verifier: pkce().verifier },
    ];
    await expectAlike(
      '401 invalid_client',
      attempts.map((attempt) => provider.exchange(client, code, attempt)),
    );
    const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, code);
    await expectAlike(
      '401 invalid_client',
      attempts.slice(0, 4).map(({ client_id: id, client_secret: secret }) => {
        const authorization = basic(id, secret ?? '');
        return provider.call('/v1/oauth/token', new URLSearchParams(grant), { authorization });
      }),
    );
  });

  it('an unknown, an expired, a foreign, a revoked, a burnt and a used code are alike', async () => {
    const provider = await startProvider();
    const [mine, other] = [await provider.client(), await provider.client()];
    const expired = await provider.code(mine);
    provider.clock.advance(600_000);
    const used = await provider.code(mine);
    await provider.exchange(mine, used);
    const revoked = await provider.code(mine, {}, provider.browser(ben.sub));
    await provider.ostiary.users.end(ben.sub);
    const codes = ['unknown', expired, used, revoked, await provider.code(other), used];
    await expectAlike(
      '400 invalid_grant',
      codes.map((code) => provider.exchange(mine, code)),
    );
    await expectAlike(
      '400 invalid_grant',
      [pkce().verifier, 'short', 'é', pkce().verifier].map(async (code_verifier) =>
        provider.exchange(mine, (await provider.boundCode(mine)).code, { code_verifier }),
      ),
    );
  });

  it('an unknown, a revoked, a malformed and an ended token are alike', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const revoked = await provider.token(client);
    await provider.revoke(revoked);
    const ended = await provider.token(client, 'openid', provider.browser(ben.sub));
    await provider.ostiary.users.end(ben.sub);
    const orphan = await provider.token(client);
    provider.host.people.delete(ana.sub);
    const known = [revoked, ended, orphan];
    const tokens = [...known, `svc_at_${'A'.repeat(43)}`, 'malformed', `${revoked}x`, revoked.toUpperCase()];
    await expectAlike(
      '401 invalid_token',
      tokens.map((token) => provider.userinfo(token)),
    );
    await expectAlike(
      '200 ok',
      tokens.map((token) => provider.revoke(token)),
    );
  });

  it('an unknown interaction and somebody else’s are alike', async () => {
    const provider = await startProvider();
    const page = await openConsent(provider, await provider.client(), {}, provider.browser(ben.sub));
    const browser = provider.browser();
    for (const path of [page.path, page.resume]) {
      const unknown = browser.get(path.replace(page.id, 'A'.repeat(43)));
      await expectAlike('400 invalid_request', [browser.get(path), unknown]);
    }
  });
});

/** What a database that is away is answered with is told for every call of every endpoint in storage-down.test.ts. */
it.each(['clients', 'grants', 'consents', 'interactions'] as const)(
  'a defect in %s tells callers nothing but a request id',
  async (name) => {
    const storage = memoryStorage();
    let armed = false;
    const fail = async () => {
      throw new TypeError('SELECT secret FROM clients; password=hunter2');
    };
    const broken: Storage = {
      ...storage,
      [name]: new Proxy<object>(storage[name], {
        get: (target, member) => (armed ? fail : Reflect.get(target, member)),
      }),
    };
    const provider = await startProvider({ storage: broken });
    const client = await provider.client();
    const token = await provider.token(client);
    const code = await provider.code(client);
    const page = await openConsent(provider, client, { prompt: 'consent' });
    const { browser } = page;
    armed = true;
    const answers = [
      await provider.exchange(client, code),
      await provider.userinfo(token),
      await provider.userinfo(token, { origin: 'https://app.example' }),
      await provider.revoke(token),
      await browser.get(provider.authorizeUrl(client)),
      await browser.get(provider.authorizeUrl(client), { accept: 'application/json' }),
      await browser.get(provider.authorizeUrl(client, { prompt: 'consent' })),
      await browser.get(page.address),
      await page.approve(),
      await browser.get(page.resume),
      await browser.get('/account/apps'),
    ];
    expect(answers.some(({ status }) => status === 500)).toBe(true);
    if (name === 'grants') expect(answers[3]?.status).toBe(500);
    for (const answer of answers) {
      const { outcome, location, headers, text } = answer;
      expect(text + [...headers].join('\n')).not.toMatch(/hunter2|SELECT|TypeError|node:|\.ts\b|\n\s+at /);
      expect(outcome).toMatch(/^(200 ok|303 .*|500 server_error)$/);
      if (answer.status !== 500) continue;
      expect([location, headers.get('cache-control'), headers.has('retry-after')]).toEqual([
        null,
        'no-store',
        false,
      ]);
      // A cookie may be taken away, not given.
      for (const cookie of headers.getSetCookie()) expect(cookie).toContain('expires=Thu, 01 Jan 1970');
    }
  },
);
