import { expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const hardened = await provider.client({ requirePkce: true });
const app = await provider.client({ public: true, redirectUris: ['https://spa.example/callback'] });

const { challenge, verifier } = pkce();
const methods = ['plain', 'Plain', 's256', 'S256 ', 'S512', 'none', 'null', '__proto__'];
const malformed = ['', challenge.slice(1), `${challenge}=`, `${challenge}A`, `${challenge.slice(1)}+`];

it.each([
  ...methods.map((method) => ({ code_challenge: challenge, code_challenge_method: method })),
  // A missing method means `plain`.
  { code_challenge: challenge },
  { code_challenge: verifier, code_challenge_method: '' },
  { code_challenge_method: 'S256' },
  ...[...malformed, ' '.repeat(43)].map((text) => ({
    code_challenge: text,
    code_challenge_method: 'S256',
  })),
])('%j is invalid_request, of any client', async (parameters) => {
  for (const to of [client, hardened, app])
    expect(await provider.attempt(to, parameters)).toBe('invalid_request');
});

it('a challenge that is given twice is invalid_request', async () => {
  const twice = `${provider.authorizeUrl(client, pkce().bound)}&code_challenge=${pkce().challenge}`;
  expect((await provider.browser().get(twice)).outcome).toBe('303 invalid_request');
});

it('PKCE is required of public clients and of clients with that setting only', async () => {
  for (const to of [hardened, app]) {
    expect(await provider.attempt(to)).toBe('invalid_request');
    expect(await provider.attempt(to, { code_challenge: '' })).toBe('invalid_request');
  }
  expect(await provider.attempt(await provider.client())).toBe('interaction');
});
