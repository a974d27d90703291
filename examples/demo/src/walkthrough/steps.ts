import type { DemoClient, DemoFile } from '../demo-file.ts';
import { createApi } from './api.ts';
import { Browser, type Page } from './browser.ts';
import {
  type Attempt,
  authorize,
  decide,
  exchangeBody,
  found,
  random,
  type Surroundings,
  textOf,
  type Walk,
} from './flow.ts';
import { accessTokenHash, verifyIdToken } from './id-token.ts';
import { walkThroughPartnerApi } from './partner.ts';
import { type Report, shortUrl } from './report.ts';
import { walkThroughWebhooks } from './webhooks.ts';

function sameMembers(one: Iterable<string>, other: Iterable<string>): boolean {
  return [...one].sort().join(' ') === [...other].sort().join(' ');
}

async function discover(
  { report, api }: Pick<Walk, 'report' | 'api'>,
  file: DemoFile,
): Promise<Walk['endpoints']> {
  report.step('Discovery: where everything is');
  const { status, body } = await api.get(`${file.authUrl}/.well-known/openid-configuration`);
  report.check(status === 200 && body.issuer === file.authUrl, 'the issuer is the configured address');
  report.check(
    JSON.stringify(body.code_challenge_methods_supported) === '["S256"]',
    'PKCE with S256 and nothing else',
  );
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

async function signIn(walk: Walk, page: Page): Promise<Page> {
  const { report, browser, user } = walk;
  report.check(new URL(page.url).pathname === '/login', 'nobody is signed in, so the sign-in page comes');
  const form = found(page.forms[0], 'sign-in form');
  const wrong = await browser.submit(page, form, { handle: user.handle, password: 'not the password' });
  report.check(wrong.status === 422, 'a wrong password is refused');
  const answer = await browser.submit(wrong, found(wrong.forms[0], 'sign-in form'), {
    handle: user.handle,
    password: user.password,
  });
  const next = await browser.follow(answer, () => false);
  report.check(
    new URL(next.url).pathname.startsWith('/oauth/interaction/'),
    'the right one leads to the consent page',
  );
  return next;
}

async function redeem(walk: Walk, attempt: Attempt, code: string): Promise<string> {
  const { report, api, endpoints } = walk;
  report.step('The code is exchanged for a token, from server to server');
  const { status, headers, body } = await api.post(
    found(endpoints.token_endpoint, 'token endpoint'),
    exchangeBody(attempt, code),
  );
  report.check(
    status === 200 && headers.get('cache-control') === 'no-store',
    'the exchange succeeds and is not cached',
  );
  report.check(body.token_type === 'Bearer' && body.expires_in === 3600, 'a bearer token for 3600 seconds');
  report.check(body.scope === attempt.scope, 'with the scopes that were approved');
  const accessToken = textOf(body.access_token, 'access_token');
  const start = `${walk.file.prefix}_at_`;
  report.check(accessToken.startsWith(start), `it starts with ${start}`);

  report.step('The ID token is verified against the published keys');
  const { body: jwks } = await api.get(found(endpoints.jwks_uri, 'JWK Set'));
  const claims = verifyIdToken(textOf(body.id_token, 'id_token'), jwks);
  report.check(claims !== null, 'the signature is right');
  report.check(
    claims?.iss === walk.file.authUrl && claims.aud === attempt.client.clientId,
    'from us, for this client',
  );
  report.check(
    claims?.sub === walk.user.sub && claims.nonce === attempt.nonce,
    'about this user and this request',
  );
  report.check(claims?.at_hash === accessTokenHash(accessToken), 'and it belongs to the access token');
  return accessToken;
}

/** What every chapter needs. */
interface Chapter extends Walk {
  readonly confidential: DemoClient;
  readonly publicClient: DemoClient;
  readonly userinfo: string;
  readonly token: string;
  readonly revocation: string;
}

/** A sign-in with every scope, and what an attacker gets out of its code. */
async function confidentialApp(chapter: Chapter): Promise<void> {
  const { report, api, user, confidential, userinfo, token } = chapter;
  report.step('An app sends the user to the consent screen; they sign in');
  const { attempt, page } = await authorize(
    chapter,
    confidential,
    'openid profile kyc wallet:balance identity',
  );
  const consent = await signIn(chapter, page);

  report.step('The user reads what each scope gives, and approves');
  report.check(consent.html.includes('Kafe Lakay'), 'the page names the app');
  report.check((consent.html.match(/See your|Know who/g)?.length ?? 0) >= 5, 'and explains all five scopes');
  const code = textOf((await decide(chapter, attempt, consent, 'approve')).get('code'), 'code');
  const accessToken = await redeem(chapter, attempt, code);

  report.step('The app reads the identity');
  const identity = await api.get(userinfo, accessToken);
  report.check(identity.status === 200 && identity.body.sub === user.sub, 'it is this user');
  report.check(
    sameMembers(Object.keys(identity.body), [
      ...[
        'sub',
        'kid',
        'role',
        'country',
        'createdAt',
        'name',
        'handle',
        'avatarUrl',
        'kycTier',
        'kycStatus',
      ],
      ...['htgBalance', 'usdBalance', 'trustScore', 'trustTier', 'activeCredentials'],
    ]),
    'with the fields of the approved scopes and no other',
  );

  report.step('Somebody presents the same code again');
  const replay = await api.post(token, exchangeBody(attempt, code));
  report.check(replay.status === 400 && replay.body.error === 'invalid_grant', 'it is refused');
  const dead = await api.get(userinfo, accessToken);
  report.check(
    dead.status === 401 && dead.body.error === 'invalid_token',
    'and the token of that code is dead',
  );
}

/** An app without a secret: refused, then approved, and it gives its token back. */
async function publicApp(chapter: Chapter): Promise<void> {
  const { report, api, publicClient, userinfo, token, revocation } = chapter;
  report.step('Another app asks, a public one, and the user denies');
  const asked = await authorize(chapter, publicClient, 'openid kyc');
  report.check(
    new URL(asked.page.url).pathname.startsWith('/oauth/interaction/'),
    'signed in already: consent comes at once',
  );
  const denied = await decide(chapter, asked.attempt, asked.page, 'deny');
  report.check(
    denied.get('error') === 'access_denied' && !denied.has('code'),
    'the app learns access_denied, and gets no code',
  );

  report.step('It asks again, the user approves; PKCE takes the place of a secret');
  const again = await authorize(chapter, publicClient, 'openid');
  const publicCode = textOf(
    (await decide(chapter, again.attempt, again.page, 'approve')).get('code'),
    'code',
  );
  const stolen = await api.post(token, {
    ...exchangeBody(again.attempt, publicCode),
    code_verifier: random(),
  });
  report.check(stolen.status === 400 && stolen.body.error === 'invalid_grant', 'a wrong verifier is refused');
  const exchanged = await api.post(token, exchangeBody(again.attempt, publicCode));
  const publicToken = textOf(exchanged.body.access_token, 'access_token');
  const little = await api.get(userinfo, publicToken);
  report.check(
    sameMembers(Object.keys(little.body), ['sub', 'kid', 'role', 'country', 'createdAt']),
    'openid alone gives the fields of openid alone',
  );

  report.step('The app gives its token back');
  const revoked = await api.post(revocation, { token: publicToken });
  report.check(revoked.status === 200 && revoked.body.ok === true, 'revocation answers ok');
  report.check((await api.get(userinfo, publicToken)).status === 401, 'the token is dead');
  report.check(
    (await api.post(revocation, { token: publicToken })).body.ok === true,
    'revoking it twice is no error',
  );
}

/** The page of connected apps. */
async function takeBack(chapter: Chapter): Promise<void> {
  const { report, api, browser, file, confidential, userinfo, token } = chapter;
  report.step('The user takes the access back on the page of connected apps');
  const third = await authorize(chapter, confidential, 'openid profile');
  const thirdCode = textOf((await decide(chapter, third.attempt, third.page, 'approve')).get('code'), 'code');
  const thirdToken = textOf(
    (await api.post(token, exchangeBody(third.attempt, thirdCode))).body.access_token,
    'access_token',
  );
  report.check((await api.get(userinfo, thirdToken)).status === 200, 'the app has a token that works');
  const apps = await browser.open(`${file.authUrl}/account/apps`);
  const removal = found(
    apps.forms.find(({ action }) => action.endsWith(`/account/apps/${confidential.clientId}/revoke`)),
    'entry of this app',
  );
  await browser.follow(await browser.submit(apps, removal, {}), () => false);
  report.check((await api.get(userinfo, thirdToken)).status === 401, 'its token is dead');
}

async function signOut(chapter: Chapter): Promise<void> {
  const { report, browser, file, confidential } = chapter;
  report.step('The user signs out');
  const home = await browser.open(`${file.authUrl}/`);
  const button = found(
    home.forms.find(({ action }) => action.endsWith('/sign-out')),
    'button to sign out',
  );
  await browser.follow(await browser.submit(home, button, {}), () => false);
  const last = await authorize(chapter, confidential, 'openid');
  report.check(new URL(last.page.url).pathname === '/login', 'the next app finds nobody signed in');
}

/** The whole flow, step by step. @throws {@link StepFailed} at the first one that does not hold */
export async function walkThrough(report: Report, surroundings: Surroundings): Promise<void> {
  const { file } = surroundings;
  const api = createApi(report);
  const browser = new Browser(({ method, url, form, status, location }) => {
    report.sent(`${method} ${shortUrl(url)}`, form);
    report.received(location === null ? `${status} page` : `${status} to ${shortUrl(location)}`);
  });
  const user = found(file.users[0], 'user');
  const confidential = found(
    file.clients.find(({ clientSecret }) => clientSecret !== null),
    'confidential client',
  );
  const publicClient = found(
    file.clients.find(({ clientSecret }) => clientSecret === null),
    'public client',
  );
  const endpoints = await discover({ report, api }, file);
  const walk: Walk = { ...surroundings, report, api, browser, user, endpoints };
  const chapter: Chapter = {
    ...walk,
    confidential,
    publicClient,
    userinfo: found(endpoints.userinfo_endpoint, 'userinfo endpoint'),
    token: found(endpoints.token_endpoint, 'token endpoint'),
    revocation: found(endpoints.revocation_endpoint, 'revocation endpoint'),
  };
  await confidentialApp(chapter);
  await publicApp(chapter);
  await takeBack(chapter);
  await walkThroughPartnerApi(walk);
  await walkThroughWebhooks(walk);
  await signOut(chapter);
}
