import { administrationCommands, runCommandLine } from '@ostiary/cli';
import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';
import { pkce } from '../support/provider.ts';

describe('a disabled partner', () => {
  it('ends its clients: no page, no code, no token, no fields, no other origin', async () => {
    const { provider } = await partnerProvider();
    const { partners, clients } = provider.ostiary.admin;
    const key = await provider.key();
    const origin = 'https://only-here.example';
    const redirectUris = [`${origin}/callback`];
    const client = await provider.client({ partner: key.partner, redirectUris });
    const other = await provider.client();
    const browser = provider.browser();
    const token = await provider.token(client, 'openid profile', browser);
    const others = await provider.token(other, 'openid', browser);
    const { verifier, bound } = pkce();
    const code = await provider.code(client, bound, browser);
    const asked = (await browser.get(provider.authorizeUrl(client, { prompt: 'consent' }))).location ?? '';
    expect((await browser.get(asked)).status).toBe(200);
    const headers = { origin, 'access-control-request-method': 'POST' };
    const preflight = async () =>
      (await provider.request('/v1/oauth/token', { method: 'OPTIONS', headers })).headers.get(
        'access-control-allow-origin',
      );
    expect(await preflight()).toBe(origin);

    await partners.disable(key.partner);
    expect((await provider.userinfo(token)).json().error).toBe('invalid_token');
    const redeem = () => provider.redeem(client, code, { code_verifier: verifier });
    expect(await redeem()).toBe('401 invalid_client');
    const started = await browser.get(provider.authorizeUrl(client));
    expect([started.status, started.location]).toEqual([401, null]);
    expect((await browser.get(asked)).status).toBe(401);
    expect(await preflight()).toBeNull();
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(401);
    expect((await provider.userinfo(others)).status).toBe(200);
    // The user's own record of it stays, and can be taken back.
    expect((await browser.get(`${provider.origin}/account/apps`)).text).toContain('Test app');
    expect((await clients.get(client.id))?.disabledAt).toBeNull();
    expect(Object.keys((await clients.get(client.id)) ?? {})).not.toContain('partnerDisabled');

    await partners.enable(key.partner);
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(200);
    expect(await preflight()).toBe(origin);
    expect((await provider.userinfo(token)).status).toBe(401);
    expect(await redeem()).toBe('400 invalid_grant');
    // Consent is remembered: no page.
    expect(await provider.attempt(client, { prompt: 'none' }, browser)).toBe('code');
  });
});

describe('the command line', () => {
  async function terminal() {
    const { provider } = await partnerProvider();
    const run = async (line: string) => {
      let [out, err] = ['', ''];
      const code = await runCommandLine({
        open: async () => ({ admin: provider.ostiary.admin, close: async () => undefined }),
        argv: line.split(' '),
        stdout: { write: (text) => (out += text) },
        stderr: { write: (text) => (err += text) },
      });
      return { code, out, err, json: () => JSON.parse(out) };
    };
    return { provider, run };
  }

  it('says what ends with a partner, before and after, and what comes back', async () => {
    const { provider, run } = await terminal();
    const question = administrationCommands['partners disable']?.question;
    expect(question?.({ positionals: ['kafe'] } as never)).toMatch(
      /keys and OAuth clients .* tokens .* deliveries/,
    );
    const key = await provider.key();
    const client = await provider.client({ partner: key.partner });
    await provider.token(client);
    await provider.code(client);
    const ended = { keys: 1, clients: 1, codes: 1, tokens: 1, deliveries: 0 };
    const { code, out, err } = await run(`partners disable ${key.partner} --yes`);
    expect(code).toBe(0);
    for (const [what, count] of Object.entries(ended))
      expect(out).toMatch(new RegExp(`^  ${what} +${count} `, 'm'));
    expect(err).toContain('Transfers');
    const again = (await run(`partners disable ${key.partner} --yes --json`)).json();
    expect(again).toMatchObject({
      partner: { slug: key.partner, disabledAt: expect.any(String) },
      ended: { ...ended, codes: 0, tokens: 0 },
    });
    expect((await run(`partners enable ${key.partner} --json`)).json()).toMatchObject({
      partner: { slug: key.partner, disabledAt: null },
      restored: { keys: 1, clients: 1 },
    });
    expect((await run(`partners enable ${key.partner}`)).out).toMatch(
      /again: 1, clients: 1\. What had ended stays/,
    );
  });

  it('verifies the audit log: 0 while it is whole, 1 with the place where it is not', async () => {
    const { provider, run } = await terminal();
    await provider.partner();
    const { head } = (await run('audit verify --json')).json();
    for (const [arguments_, code, words] of [
      ['', 0, 'The chain is whole.'],
      ['', 0, head],
      [` --head ${head}`, 0, 'The chain is whole.'],
      [` --head ${'0'.repeat(63)}1`, 1, 'the head that was given is not in'],
      [' --head nonsense', 2, ''],
    ])
      expect(await run(`audit verify${arguments_}`)).toMatchObject({
        code,
        out: expect.stringContaining(words),
      });
  });
});
