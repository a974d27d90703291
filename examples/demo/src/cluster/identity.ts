import { Browser } from '../walkthrough/browser.ts';
import { call, callsOf, read } from '../walkthrough/calls.ts';
import { authorize, clientOf, decide, exchangeBody } from '../walkthrough/flow.ts';
import { found, textOf } from '../walkthrough/found.ts';
import { passportIn } from '../walkthrough/partner.ts';
import type { Cluster } from './cluster-parts.ts';
import type { ServerProcess } from './server-process.ts';

/** A user signs in and approves an app; every step may come to another process than the one before. */
export async function walkThroughIdentity({ report, file, front, webs, results }: Cluster): Promise<void> {
  const browser = new Browser();
  const { handle, password } = found(file.users[0], 'user');
  const discovery = await read(report, `${file.authUrl}/.well-known/openid-configuration`);
  const authorization_endpoint = textOf(discovery.body.authorization_endpoint, 'endpoint');
  const walk = { report, file, browser, endpoints: { authorization_endpoint } };

  const before = front.answeredBy.length;
  const { attempt, page } = await authorize(walk, clientOf(file, false), 'openid profile kyc wallet:balance');
  const signedIn = await browser.submit(page, found(page.forms[0], 'form'), { handle, password });
  const query = await decide(walk, attempt, await browser.follow(signedIn), 'approve');
  const names = front.answeredBy.slice(before);
  const counts = [...new Set(names)].sort().map((name) => [name, names.filter((one) => one === name).length]);
  results.add(
    'sign-in and consent, answered by',
    counts.map(([name, count]) => `${name}: ${count}`).join(', '),
    counts.length === webs.length,
  );

  const isIssuer = ({ name }: ServerProcess): boolean => name === names.at(-1);
  const issuer = found(webs.find(isIssuer), 'process that issued the code');
  const other = found(
    webs.find((web) => !isIssuer(web)),
    'other process',
  );
  const exchange = exchangeBody(attempt, textOf(query.get('code'), 'code'));
  const redeem = ({ origin }: ServerProcess) =>
    call(report, 'POST', `${origin}/v1/oauth/token`, {}, exchange);
  const redeemed = await redeem(other);
  const told = `${issuer.name}, ${other.name}: ${redeemed.status}`;
  results.add('code, issued and redeemed at', told, redeemed.status === 200);
  const token = textOf(redeemed.body.access_token, 'access_token');
  const atEither = (ask: (web: ServerProcess) => Promise<{ readonly status: number }>) =>
    Promise.all(webs.map(async (web) => (await ask(web)).status));
  const userinfo = () => atEither(({ origin }) => read(report, `${origin}/v1/oauth/userinfo`, token));
  results.all('its token at either', await userinfo(), 200);
  const { status } = await redeem(issuer);
  const dead = await userinfo();
  results.add(
    'the code once more, and its token then',
    [status, ...dead].join(', '),
    status === 400 && dead.every((one) => one === 401),
  );

  const passport = { token: passportIn((await browser.open(`${file.authUrl}/passport`)).html) };
  const verified = await atEither(({ origin }) =>
    callsOf({ report, file: { ...file, baseUrl: origin } }, 'live').post('verify', passport),
  );
  results.all('a passport, verified at either', verified, 200);
}
