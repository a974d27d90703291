import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Page } from './browser.ts';
import { call, isRefused, read } from './calls.ts';
import {
  type Attempt,
  approvedExchange,
  authorize,
  decide,
  type Endpoints,
  exchangeBody,
  random,
  type Walk,
} from './flow.ts';
import { found, textOf } from './found.ts';

const sameMembers = (one: object, other: string): boolean =>
  Object.keys(one).sort().join(' ') === other.split(' ').sort().join(' ');

const exchange = ({ report, endpoints }: Walk, body: Readonly<Record<string, string>>) =>
  call(report, 'POST', endpoints.token_endpoint, {}, body);

const identityOf = ({ report, endpoints }: Walk, token: string) =>
  read(report, endpoints.userinfo_endpoint, token);

export async function discover({ report, file }: Pick<Walk, 'report' | 'file'>): Promise<Endpoints> {
  report.step('Discovery: where everything is');
  const { status, body } = await read(report, `${file.authUrl}/.well-known/openid-configuration`);
  report.check({
    'the issuer is the configured address': status === 200 && body.issuer === file.authUrl,
    'PKCE with S256 and nothing else': JSON.stringify(body.code_challenge_methods_supported) === '["S256"]',
  });
  const of = (name: keyof Endpoints): string => textOf(body[name], name);
  return {
    authorization_endpoint: of('authorization_endpoint'),
    token_endpoint: of('token_endpoint'),
    userinfo_endpoint: of('userinfo_endpoint'),
    revocation_endpoint: of('revocation_endpoint'),
    jwks_uri: of('jwks_uri'),
  };
}

async function signIn({ report, browser, user }: Walk, page: Page): Promise<Page> {
  const { handle, password } = user;
  const type = (on: Page, typed: string) =>
    browser.submit(on, found(on.forms[0], 'sign-in form'), { handle, password: typed });
  const wrong = await type(page, 'not the password');
  const next = await browser.follow(await type(wrong, password));
  report.check({
    'no user is signed in, so the sign-in page is shown': new URL(page.url).pathname === '/login',
    'a wrong password is refused': wrong.status === 422,
    'the right one leads to the consent page': isConsent(next),
  });
  return next;
}

const isConsent = ({ url }: Page): boolean => new URL(url).pathname.startsWith('/oauth/interaction/');

async function redeem(walk: Walk, attempt: Attempt, code: string): Promise<string> {
  const { report, file, user, endpoints } = walk;
  report.step('The code is exchanged for a token, from server to server');
  const { status, headers, body } = await exchange(walk, exchangeBody(attempt, code));
  const accessToken = textOf(body.access_token, 'access_token');
  const start = `${file.prefix}_at_`;
  const isCached = headers.get('cache-control') !== 'no-store';
  report.check({
    'the exchange succeeds and is not cached': status === 200 && !isCached,
    'a bearer token for 3600 seconds': body.token_type === 'Bearer' && body.expires_in === 3600,
    'with the scopes that were approved': body.scope === attempt.scope,
    [`it starts with ${start}`]: accessToken.startsWith(start),
  });

  report.step('The ID token is verified against the published keys');
  const { body: jwks } = await read(report, endpoints.jwks_uri);
  const keys = createLocalJWKSet(jwks as unknown as JSONWebKeySet);
  const idToken = textOf(body.id_token, 'id_token');
  const claims = await jwtVerify(idToken, keys, { algorithms: ['RS256', 'ES256'] }).then(
    ({ payload }) => payload,
    () => undefined,
  );
  const { clientId } = attempt.client;
  // `at_hash`, the hash of the access token (OpenID Connect Core, section 3.1.3.6).
  const digest = createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');
  report.check({
    'the signature is right': claims !== undefined,
    'from us, for this client': claims?.iss === file.authUrl && claims.aud === clientId,
    'about this user and this request': claims?.sub === user.sub && claims.nonce === attempt.nonce,
    'and it belongs to the access token': claims?.at_hash === digest,
  });
  return accessToken;
}

/** Walks through a sign-in with every scope, and shows that an attacker cannot use its code. */
export async function confidentialApp(walk: Walk): Promise<void> {
  const { report, user, confidential } = walk;
  report.step('An app sends the user to the consent screen; they sign in');
  const scope = 'openid profile kyc wallet:balance identity';
  const { attempt, page } = await authorize(walk, confidential, scope);
  const consent = await signIn(walk, page);

  report.step('The user reads what each scope gives, and approves');
  report.check({
    'the page names the app': consent.html.includes('Kafe Lakay'),
    'and explains all five scopes': (consent.html.match(/See your|Know who/g)?.length ?? 0) >= 5,
  });
  const code = textOf((await decide(walk, attempt, consent, 'approve')).get('code'), 'code');
  const accessToken = await redeem(walk, attempt, code);

  report.step('The app reads the identity');
  const { status, body } = await identityOf(walk, accessToken);
  const fields = `sub kid role country createdAt name handle avatarUrl kycTier kycStatus
    htgBalance usdBalance trustScore trustTier activeCredentials`;
  report.check({
    'it is this user': status === 200 && body.sub === user.sub,
    'with the fields of the approved scopes and no other': sameMembers(body, fields.replace(/\s+/g, ' ')),
  });

  report.step('Somebody presents the same code again');
  const replay = await exchange(walk, exchangeBody(attempt, code));
  report.check({
    'it is refused': isRefused(replay, 400, 'invalid_grant'),
    'and the token of that code is dead': isRefused(
      await identityOf(walk, accessToken),
      401,
      'invalid_token',
    ),
  });
}

/**
 * Walks through sign-ins of an app without a secret: the user denies, then approves, and the app revokes its
 * token.
 */
export async function publicApp(walk: Walk): Promise<void> {
  const { report, publicClient, endpoints } = walk;
  report.step('Another app asks, a public one, and the user denies');
  const asked = await authorize(walk, publicClient, 'openid kyc');
  const denied = await decide(walk, asked.attempt, asked.page, 'deny');
  report.check({
    'signed in already: consent comes at once': isConsent(asked.page),
    'the app learns access_denied, and gets no code':
      denied.get('error') === 'access_denied' && !denied.has('code'),
  });

  report.step('It asks again, the user approves; PKCE takes the place of a secret');
  const wanted = await approvedExchange(walk, publicClient, 'openid');
  const stolen = await exchange(walk, { ...wanted, code_verifier: random() });
  const { body } = await exchange(walk, wanted);
  const token = textOf(body.access_token, 'access_token');
  const little = await identityOf(walk, token);
  report.check({
    'a wrong verifier is refused': isRefused(stolen, 400, 'invalid_grant'),
    'openid alone gives the fields of openid alone': sameMembers(
      little.body,
      'sub kid role country createdAt',
    ),
  });

  report.step('The app gives its token back');
  const revoke = () => call(report, 'POST', endpoints.revocation_endpoint, {}, { token });
  const revoked = await revoke();
  report.check({
    'revocation answers ok': revoked.status === 200 && revoked.body.ok === true,
    'the token is dead': (await identityOf(walk, token)).status === 401,
    'revoking it twice is no error': (await revoke()).body.ok === true,
  });
}

/** Walks through revoking an app's access on the page of connected apps. */
export async function takeBack(walk: Walk): Promise<void> {
  const { report, file, confidential } = walk;
  report.step('The user takes the access back on the page of connected apps');
  const { body } = await exchange(walk, await approvedExchange(walk, confidential, 'openid profile'));
  const token = textOf(body.access_token, 'access_token');
  report.check({ 'the app has a token that works': (await identityOf(walk, token)).status === 200 });
  await pressButton(walk, `${file.authUrl}/account/apps`, `/account/apps/${confidential.clientId}/revoke`);
  report.check({ 'its token is dead': (await identityOf(walk, token)).status === 401 });
}

async function pressButton({ browser }: Walk, url: string, action: string): Promise<void> {
  const page = await browser.open(url);
  const form = page.forms.find((candidate) => candidate.action.endsWith(action));
  await browser.follow(await browser.submit(page, found(form, `form that sends to ${action}`), {}));
}

export async function signOut(walk: Walk): Promise<void> {
  const { report, file, confidential } = walk;
  report.step('The user signs out');
  await pressButton(walk, `${file.authUrl}/`, '/sign-out');
  const { page } = await authorize(walk, confidential, 'openid');
  report.check({ 'for the next app no user is signed in': new URL(page.url).pathname === '/login' });
}
