import { createApi } from '../walkthrough/api.ts';
import { Browser } from '../walkthrough/browser.ts';
import { authorize, decide, exchangeBody, found, textOf } from '../walkthrough/flow.ts';
import { callsOf } from '../walkthrough/partner-calls.ts';
import type { Cluster } from './cluster-parts.ts';
import type { Results } from './results.ts';

const namesOf = (names: readonly string[]): string =>
  [...new Set(names)]
    .sort()
    .map((name) => `${name}: ${names.filter((other) => other === name).length}`)
    .join(', ');

/** A user signs in and approves an app; every step may come to another process than the one before. */
export async function walkThroughIdentity(
  { report, file, front, webs }: Cluster,
  results: Results,
): Promise<void> {
  const api = createApi(report);
  const browser = new Browser(() => undefined);
  const user = found(file.users[0], 'user');
  const client = found(
    file.clients.find(({ clientSecret }) => clientSecret !== null),
    'confidential client',
  );
  const { body } = await api.get(`${file.authUrl}/.well-known/openid-configuration`);
  const authorization_endpoint = textOf(body.authorization_endpoint, 'authorization endpoint');
  const walk = { report, file, browser, endpoints: { authorization_endpoint } };

  const before = front.answeredBy.length;
  const { attempt, page } = await authorize(walk, client, 'openid profile kyc wallet:balance');
  const { handle, password } = user;
  const form = found(page.forms[0], 'sign-in form');
  const consent = await browser.follow(await browser.submit(page, form, { handle, password }), () => false);
  const code = textOf((await decide(walk, attempt, consent, 'approve')).get('code'), 'code');
  const names = front.answeredBy.slice(before);
  results.add('sign-in and consent, answered by', namesOf(names), new Set(names).size === webs.length);

  const issuer = found(
    webs.find(({ name }) => name === names.at(-1)),
    'process that issued the code',
  );
  const other = found(
    webs.find((web) => web !== issuer),
    'other process',
  );
  const exchange = exchangeBody(attempt, code);
  const redeemed = await api.post(`${other.origin}/v1/oauth/token`, exchange);
  results.add(
    'code, issued and redeemed at',
    `${issuer.name}, ${other.name}: ${redeemed.status}`,
    redeemed.status === 200,
  );
  const token = textOf(redeemed.body.access_token, 'access_token');
  const userinfo = async (): Promise<readonly number[]> =>
    Promise.all(webs.map(async ({ origin }) => (await api.get(`${origin}/v1/oauth/userinfo`, token)).status));
  const alive = await userinfo();
  results.add(
    'its token at either',
    alive.join(', '),
    alive.every((status) => status === 200),
  );
  const replayed = await api.post(`${issuer.origin}/v1/oauth/token`, exchange);
  const dead = await userinfo();
  results.add(
    'the code once more, and its token then',
    [replayed.status, ...dead].join(', '),
    replayed.status === 400 && dead.every((status) => status === 401),
  );

  const passport = textOf(
    /id="token"[^>]*>([^<]+)</.exec((await browser.open(`${file.authUrl}/passport`)).html)?.[1],
    'passport',
  );
  const verified = await Promise.all(
    webs.map(async ({ origin }) => {
      const calls = callsOf({ report, file: { ...file, baseUrl: origin } }, 'live');
      return (await calls.post('/v1/partner/verify', { token: passport })).status;
    }),
  );
  results.add(
    'a passport, verified at either',
    verified.join(', '),
    verified.every((status) => status === 200),
  );
}
