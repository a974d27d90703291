import { expect, test } from 'vitest';
import { command, running } from '../support/commands.ts';
import { approve, createPartner, receiver } from '../support/partners.ts';
import { anaika, jean } from '../support/server.ts';
import { fieldsOf, Visitor } from '../support/visitor.ts';

/** Starts a server with a user who is signed in, and an app that gets logout tokens. */
async function signedIn() {
  const { env, server, origin } = await running();
  const { accounts, admin } = server.installation;
  const { sub } = await accounts.create(anaika);
  await accounts.create(jean);
  const endpoint = await receiver();
  const { clientId } = await createPartner(server, 'kafe');
  await admin.clients.update(clientId, { backchannelLogoutUri: endpoint.url });
  const visitor = new Visitor(origin);
  await visitor.signIn('anaika', anaika.password);
  await approve(visitor, clientId, 'openid');
  const notices = () =>
    endpoint.received.map(({ body }) => {
      const token = new URLSearchParams(body.toString()).get('logout_token') ?? '';
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      return { sub: claims.sub, ofOneSession: 'sid' in claims };
    });
  return { env, visitor, sub, notices };
}

type SignedIn = Awaited<ReturnType<typeof signedIn>>;

/** Ways in which the sessions of a user end, and whether apps are notified of one session or of all. */
const ways: readonly (readonly [string, 'one' | 'all', (given: SignedIn) => Promise<unknown>])[] = [
  [
    'signs out',
    'one',
    async ({ visitor }) => visitor.post('/sign-out', fieldsOf((await visitor.get('/')).html)),
  ],
  [
    'is replaced by another user of the same browser',
    'one',
    ({ visitor }) => visitor.signIn('jean', jean.password, '?reauthenticate=1'),
  ],
  [
    'gets another password',
    'all',
    ({ env }) => command('users set-password', ['anaika'], env, 'a new long password\n'),
  ],
  ['is blocked', 'all', ({ env }) => command('users block', ['--yes', 'anaika'], env)],
];

test.each(ways)('apps are notified if a user %s', async (_way, sessions, end) => {
  const given = await signedIn();
  await end(given);
  await expect
    .poll(given.notices, { timeout: 10_000 })
    .toEqual([{ sub: given.sub, ofOneSession: sessions === 'one' }]);
});

test('apps are not notified if the same user signs in again', async () => {
  const { visitor, sub, notices } = await signedIn();
  expect((await visitor.signIn('anaika', anaika.password, '?reauthenticate=1')).status).toBe(303);
  await visitor.post('/sign-out', fieldsOf((await visitor.get('/')).html));
  await expect.poll(notices, { timeout: 10_000 }).toEqual([{ sub, ofOneSession: true }]);
});
