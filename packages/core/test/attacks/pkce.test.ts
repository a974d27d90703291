import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { pkce, type TestClient, TestProvider } from '../support/provider.ts';

describe('attacks on PKCE', () => {
  let provider: TestProvider;
  let client: TestClient;
  let hardened: TestClient;
  let app: TestClient;
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { failedClientAuthentications: 10_000 } });
    client = await provider.client();
    hardened = await provider.client({ requirePkce: true });
    app = await provider.client({ public: true, redirectUris: ['https://spa.example/callback'] });
  });
  afterAll(() => provider.stop());

  /** A code that is bound to a verifier. */
  async function boundCode(to: TestClient): Promise<{ code: string; verifier: string; challenge: string }> {
    const { verifier, challenge } = pkce();
    const code = await provider.code(to, { code_challenge: challenge, code_challenge_method: 'S256' });
    return { code, verifier, challenge };
  }

  async function authorizationError(
    to: TestClient,
    changes: Record<string, string | undefined>,
  ): Promise<string | null> {
    const { location } = await provider.browser().get(provider.authorizeUrl(to, changes));
    expect(location?.startsWith(to.redirectUri)).toBe(true);
    const parameters = new URL(location ?? '').searchParams;
    expect(parameters.has('code')).toBe(false);
    return parameters.get('error');
  }

  function expectError(answer: Answer, status: number, error: string): void {
    expect([answer.status, answer.json().error]).toEqual([status, error]);
    expect(answer.text).not.toContain('svc_at_');
  }

  it('takes the right verifier, without a secret', async () => {
    for (const to of [client, hardened, app]) {
      const { code, verifier } = await boundCode(to);
      const answer = await provider.exchange(to, code, { client_secret: undefined, code_verifier: verifier });
      expect(answer.status).toBe(200);
    }
  });

  describe('the challenge stripped from the authorization request', () => {
    it('is refused where the client has to use PKCE', async () => {
      for (const to of [hardened, app]) {
        expect(await authorizationError(to, {})).toBe('invalid_request');
        expect(await authorizationError(to, { code_challenge: '' })).toBe('invalid_request');
      }
    });

    it('is noticed by the verifier that the honest client sends with its secret', async () => {
      const code = await provider.code(client);
      const { verifier } = pkce();
      expectError(await provider.exchange(client, code, { code_verifier: verifier }), 400, 'invalid_grant');
      expectError(
        await provider.exchange(client, code, { code_verifier: verifier, client_secret: undefined }),
        400,
        'invalid_grant',
      );
    });

    it('does not make a code that works without a secret', async () => {
      const code = await provider.code(client);
      expectError(await provider.exchange(client, code, { client_secret: undefined }), 401, 'invalid_client');
      expectError(await provider.exchange(client, code, { client_secret: '' }), 401, 'invalid_client');
      expectError(
        await provider.exchange(client, code, { client_secret: undefined, code_verifier: '' }),
        401,
        'invalid_client',
      );
    });
  });

  describe('the method', () => {
    it.each(['plain', 'Plain', 's256', 'S256 ', 'S512', 'none', 'null', '__proto__'])(
      '%j is refused',
      async (method) => {
        const { challenge } = pkce();
        const changes = { code_challenge: challenge, code_challenge_method: method };
        for (const to of [client, hardened, app])
          expect(await authorizationError(to, changes)).toBe('invalid_request');
      },
    );

    it('is refused when it is missing, because it would mean plain', async () => {
      const { verifier, challenge } = pkce();
      for (const to of [client, hardened, app]) {
        expect(await authorizationError(to, { code_challenge: challenge })).toBe('invalid_request');
        expect(await authorizationError(to, { code_challenge: verifier, code_challenge_method: '' })).toBe(
          'invalid_request',
        );
      }
    });

    it('is refused without a challenge', async () => {
      expect(await authorizationError(client, { code_challenge_method: 'S256' })).toBe('invalid_request');
      expect(await authorizationError(client, { code_challenge: '', code_challenge_method: 'S256' })).toBe(
        'invalid_request',
      );
    });
  });

  it('refuses a challenge that is no SHA-256, and one that is given twice', async () => {
    const { challenge } = pkce();
    for (const bent of [
      `${challenge}=`,
      `${challenge}A`,
      challenge.slice(1),
      `${challenge.slice(1)}+`,
      ' '.repeat(43),
    ]) {
      const changes = { code_challenge: bent, code_challenge_method: 'S256' };
      expect(await authorizationError(client, changes)).toBe('invalid_request');
    }
    const twice = `${provider.authorizeUrl(client, { code_challenge: challenge, code_challenge_method: 'S256' })}&code_challenge=${pkce().challenge}`;
    const { location } = await provider.browser().get(twice);
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_request');
  });

  describe('a bound code', () => {
    it('does not go with a wrong, missing, malformed or foreign verifier', async () => {
      const { code, challenge, verifier } = await boundCode(client);
      const other = await boundCode(client);
      expectError(await provider.exchange(client, code, {}), 400, 'invalid_grant');
      expectError(await provider.exchange(client, code, { client_secret: undefined }), 400, 'invalid_grant');
      for (const wrong of [challenge, other.verifier, `${verifier}A`, verifier.slice(0, 42)]) {
        expectError(await provider.exchange(client, code, { code_verifier: wrong }), 400, 'invalid_grant');
      }
      expect((await provider.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
    });

    it('does not take the challenge for the verifier, whatever method the exchange claims', async () => {
      const { code, challenge } = await boundCode(client);
      const plain = { code_verifier: challenge, code_challenge_method: 'plain', code_challenge: challenge };
      expectError(await provider.exchange(client, code, plain), 400, 'invalid_grant');
    });

    it('does not open with a wrong secret beside the right verifier', async () => {
      const { code, verifier } = await boundCode(client);
      const wrong = { code_verifier: verifier, client_secret: `${client.secret}x` };
      expectError(await provider.exchange(client, code, wrong), 401, 'invalid_client');
      expect((await provider.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
    });

    it('is burnt by the fifth wrong verifier, for the honest client too', async () => {
      const { code, verifier } = await boundCode(client);
      for (let guess = 0; guess < 5; guess += 1) {
        expectError(
          await provider.exchange(client, code, { code_verifier: pkce().verifier }),
          400,
          'invalid_grant',
        );
      }
      expectError(await provider.exchange(client, code, { code_verifier: verifier }), 400, 'invalid_grant');
    });
  });

  describe('a stolen code', () => {
    it('is worth nothing to another client, and stays good for its own', async () => {
      const { code, verifier } = await boundCode(client);
      for (const thief of [hardened, app]) {
        const stolen = { code_verifier: verifier, redirect_uri: client.redirectUri };
        expectError(await provider.exchange(thief, code, stolen), 400, 'invalid_grant');
      }
      expect((await provider.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
    });

    it('is worth nothing to a client that signs in as another', async () => {
      const code = await provider.code(client);
      const mixed = { client_id: client.id, client_secret: hardened.secret };
      expectError(await provider.exchange(hardened, code, mixed), 401, 'invalid_client');
      expectError(
        await provider.exchange(app, code, { client_id: client.id, redirect_uri: client.redirectUri }),
        401,
        'invalid_client',
      );
    });

    it('cannot be injected into another session of the same client', async () => {
      const victim = await boundCode(client);
      const session = await boundCode(client);
      // The honest client redeems the injected code with the verifier of the attacker's session.
      const injected = await provider.exchange(client, victim.code, { code_verifier: session.verifier });
      expectError(injected, 400, 'invalid_grant');
      expect((await provider.exchange(client, victim.code, { code_verifier: victim.verifier })).status).toBe(
        200,
      );
    });

    it('gives a token whose nonce is the victim’s, so that a client without PKCE notices', async () => {
      const code = await provider.code(client, { nonce: 'of-the-victim' });
      const { id_token: idToken } = (await provider.exchange(client, code)).json();
      const [, claims = ''] = String(idToken).split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        nonce: 'of-the-victim',
      });
    });
  });

  it('a public client never gets in with a secret, not even an empty or inherited one', async () => {
    for (const secret of ['x', 'undefined', 'null', '[object Object]', '__proto__']) {
      const { code, verifier } = await boundCode(app);
      const answer = await provider.exchange(app, code, { code_verifier: verifier, client_secret: secret });
      expectError(answer, 401, 'invalid_client');
    }
  });
});
