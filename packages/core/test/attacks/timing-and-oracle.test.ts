import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { basic, pkce, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/** Returns all parts of a response that its caller sees, except for the time and the request id. */
function seen(answer: Answer): object {
  const { date: _, 'x-request-id': __, ...headers } = Object.fromEntries(answer.headers);
  return {
    status: answer.status,
    headers,
    body: answer.text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'REQUEST'),
  };
}

/** Checks that all responses are equal, and have the given outcome. */
async function expectAlike(outcome: string, asked: readonly Promise<Answer>[]): Promise<void> {
  const [first, ...others] = await Promise.all(asked);
  expect(first?.outcome).toBe(outcome);
  for (const answer of others) expect(seen(answer)).toEqual(seen(first as Answer));
}

describe('answers that must not tell one secret from another', () => {
  it('the responses to an unknown client, a wrong secret, a disabled client and a public one with a secret are equal', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const publicClient = await provider.client({ public: true });
    const disabled = await provider.client();
    await provider.ostiary.admin.clients.disable(disabled.id);
    const code = await provider.code(client);
    const ids = [client.id, 'stranger', '__proto__', '../x', 'x'.repeat(256), 'a b\u00e9', publicClient.id];
    const attempts = [
      ...ids.map((id) => ({ client_id: id, client_secret: 'wrong' })),
      { client_id: client.id, client_secret: `${client.secret?.slice(0, -1)}` },
      { client_id: 'stranger', client_secret: client.secret },
      { client_id: disabled.id, client_secret: disabled.secret },
      { client_id: disabled.id, client_secret: undefined, code_verifier: pkce().verifier },
      { client_id: 'stranger', client_secret: undefined, code_verifier: pkce().verifier },
    ];
    const inBody = attempts.map((attempt) => provider.exchange(client, code, attempt));
    await expectAlike('401 invalid_client', inBody);
    const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, code);
    const inHeader = attempts.slice(0, 4).map(({ client_id: id, client_secret: secret }) => {
      const authorization = basic(id, secret ?? '');
      return provider.call('/v1/oauth/token', new URLSearchParams(grant), { authorization });
    });
    await expectAlike('401 invalid_client', inHeader);
  });

  it('the responses to an unknown, an expired, a foreign, a revoked, a burnt and a used code are equal', async () => {
    const provider = await startProvider();
    const [mine, other] = [await provider.client(), await provider.client()];
    const expired = await provider.code(mine);
    provider.clock.advance(600_000);
    const used = await provider.code(mine);
    await provider.exchange(mine, used);
    const revoked = await provider.code(mine, {}, provider.browser(ben.sub));
    await provider.ostiary.users.end(ben.sub);
    const codes = ['unknown', expired, used, revoked, await provider.code(other), used];
    const presented = codes.map((code) => provider.exchange(mine, code));
    await expectAlike('400 invalid_grant', presented);
    const unproven = [pkce().verifier, 'short', 'é', pkce().verifier].map(async (code_verifier) =>
      provider.exchange(mine, (await provider.boundCode(mine)).code, { code_verifier }),
    );
    await expectAlike('400 invalid_grant', unproven);
  });

  it('the responses to an unknown, a revoked, a malformed and an expired token are equal', async () => {
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
    const read = tokens.map((token) => provider.userinfo(token));
    await expectAlike('401 invalid_token', read);
    const revocations = tokens.map((token) => provider.revoke(token));
    await expectAlike('200 ok', revocations);
  });

  it('the responses to an unknown interaction and one of another browser are equal', async () => {
    const provider = await startProvider();
    const page = await openConsent(provider, await provider.client(), {}, provider.browser(ben.sub));
    const browser = provider.browser();
    for (const path of [page.path, page.resume]) {
      const unknown = browser.get(path.replace(page.id, 'A'.repeat(43)));
      await expectAlike('400 invalid_request', [browser.get(path), unknown]);
    }
  });
});
