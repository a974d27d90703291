import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import type { Json } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const idToken = async (of = client): Promise<string> => String((await provider.tokens(of)).id_token);
const silently = (id_token_hint: string, browser = provider.browser()) =>
  provider.attempt(client, { id_token_hint, prompt: 'none' }, browser);

describe('id_token_hint', () => {
  it('of the signed-in user has no effect, and of another user gives login_required, also after its expiry', async () => {
    // Set the clock back by two hours for the expired token, since the engine reads the machine's clock.
    for (const agoMs of [0, 7_200_000]) {
      provider.clock.advance(-agoMs);
      const hint = await idToken();
      provider.clock.advance(agoMs);
      expect((decodeJwt(hint).exp ?? 0) * 1000 < Date.now()).toBe(agoMs > 0);
      expect(await provider.attempt(client, { id_token_hint: hint })).toBe('code');
      expect(await silently(hint)).toBe('code');
      expect(await silently(hint, provider.browser(ben.sub))).toBe('login_required');
    }
  });

  it.each([
    ['goes on when the right one signs in', ana, '303 code'],
    ['ends when the wrong one does, rather than going in circles', ben, '303 login_required'],
  ])('of another user sends to the login, and %s', async (_name, { sub }, outcome) => {
    const browser = provider.browser(ben.sub);
    const url = provider.authorizeUrl(client, { id_token_hint: await idToken() });
    const login = await provider.follow(browser, url);
    expect([login.outcome, login.callback.get('reauthenticate')]).toEqual(['303 login', 'true']);
    provider.signIn(browser, sub, -1);
    const back = await provider.follow(browser, login.callback.get('return_to') ?? '');
    expect([back.outcome, back.callback.get('state')]).toEqual([outcome, 'a state']);
  });

  it('survives a rotation of the signing keys', async () => {
    const hint = await idToken();
    provider.clock.advance(1);
    await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    expect(await silently(hint)).toBe('code');
  });

  it('is verified with a retired key for a year; after that it only restricts who may continue', async () => {
    const own = await startProvider();
    const app = await own.client();
    const hint = { id_token_hint: String((await own.tokens(app)).id_token) };
    const rotate = (afterMs: number) => {
      own.clock.advance(afterMs);
      return own.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    };
    const attempt = (sub: string) => own.attempt(app, { ...hint, prompt: 'none' }, own.browser(sub));
    const day = 24 * 3_600_000;
    await rotate(1);
    await rotate(day);
    expect([await attempt(ana.sub), await attempt(ben.sub)]).toEqual([...['code', 'login_required']]);
    own.clock.advance(364 * day);
    expect(await attempt(ana.sub)).toBe('login_required');
    expect((await own.follow(own.browser(), own.authorizeUrl(app, hint))).outcome).toBe('303 code');
    const browser = own.browser(ben.sub);
    const login = await own.follow(browser, own.authorizeUrl(app, hint));
    expect(login.outcome).toBe('303 login');
    own.signIn(browser, ben.sub, -1);
    const end = await own.follow(browser, login.callback.get('return_to') ?? '');
    expect(end.outcome).toBe('303 login_required');
  });

  it('asks the user to sign in once it is older than a year, though its key was never rotated', async () => {
    const own = await startProvider();
    const app = await own.client();
    const hint = { id_token_hint: String((await own.tokens(app)).id_token) };
    const year = 365 * 24 * 3_600_000;
    const silently = () => own.attempt(app, { ...hint, prompt: 'none' }, own.browser());
    own.clock.advance(year - 1_000);
    expect(await silently()).toBe('code');
    own.clock.advance(1_000);
    expect(await silently()).toBe('login_required');
  });

  it('of another client or service, or of another kind, is refused with the reason', async () => {
    const described = async (id_token_hint: string) => {
      const { callback } = await provider.follow(
        provider.browser(),
        provider.authorizeUrl(client, { id_token_hint }),
      );
      return `${callback.get('error')}: ${callback.get('error_description')}`;
    };
    expect(await described(await idToken(await provider.client()))).toBe(
      'invalid_request: The id_token_hint was issued to another client than client_id names.',
    );
    const wrong = 'invalid_request: The id_token_hint is not an ID token of this service.';
    expect(await described('x.y.z')).toBe(wrong);
    const { token } = await provider.ostiary.passports.issue(ana.sub);
    expect(await described(token)).toBe(wrong);
  });
});

describe('hints that are no ID token of this provider for this client', async () => {
  const genuine = await idToken();
  const [head = '', claims = '', signature = ''] = genuine.split('.');
  const decoded = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString());
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = decoded(head);
  const claimsOfBen = encoded({ ...decoded(claims), sub: ben.sub });
  const expectRefusal = async (hint: string) =>
    expect([hint.slice(0, 60), await silently(hint)]).toEqual([hint.slice(0, 60), 'invalid_request']);

  it('the algorithm none is refused, in any spelling', async () => {
    for (const alg of ['none', 'None', 'NONE', '', null, undefined, ['none']])
      for (const proof of ['', signature])
        await expectRefusal(`${encoded({ ...header, alg })}.${claimsOfBen}.${proof}`);
  });

  it('a public key does not verify as a shared secret', async () => {
    const { keys } = (await provider.request('/.well-known/jwks.json')).json() as { keys: Json[] };
    for (const key of keys) {
      for (const secret of [JSON.stringify(key), String(key.n ?? key.x), client.secret ?? '']) {
        const input = `${encoded({ alg: 'HS256', kid: key.kid, typ: 'JWT' })}.${claimsOfBen}`;
        await expectRefusal(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`);
      }
    }
  });

  it('a key in the header of the token is not trusted', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const addresses = { jku: 'https://evil.example/jwks.json', x5u: 'https://evil.example/' };
    const jwk = publicKey.export({ format: 'jwk' });
    for (const more of [{ jwk }, addresses, { kid: '../../dev/null' }, { crit: ['b64'], b64: false }]) {
      const input = `${encoded({ ...header, ...more })}.${claimsOfBen}`;
      await expectRefusal(`${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`);
    }
  });

  it('bent, cut, swollen and foreign ones are refused, and nothing breaks', async () => {
    const cut = [`${claims}.${signature.slice(0, -4)}`, `${claims}.`, `.${signature}`, claims];
    const bent = [`${claimsOfBen}.${signature}`, ...cut].map((rest) => `${head}.${rest}`);
    const foreign = [await idToken(await provider.client()), `${encoded(null)}.${encoded(null)}.`];
    const other = [
      `${encoded({ alg: 'RS256' })}.${encoded([])}.AAAA`,
      `${encoded({ alg: 'dir', enc: 'A128GCM' })}....`,
    ];
    const nonsense = ['..', '.', 'a.b.c', '{}', 'null', '__proto__', 'x'.repeat(8000), '.'.repeat(8000)];
    for (const hint of [...bent, ...foreign, ...other, ...nonsense, `${genuine}.`, `${genuine}.x.y`])
      await expectRefusal(hint);
    expect(provider.errors).toEqual([]);
  });
});
