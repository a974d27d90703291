import { expect, it } from 'vitest';
import { AuthenticationFailure, authenticationLog } from '../../src/oauth/authentication-failures.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

const message = 'a client could not be authenticated; the same is told once a minute';

async function start() {
  const provider = await TestProvider.start({ limits: generousLimits });
  const present = (client: TestClient, changes: Record<string, unknown> = {}) =>
    provider.exchange(client, 'no-code', changes);
  return { provider, present };
}

it('the log says which client failed and why, and never a secret', async () => {
  const { provider, present } = await start();
  const app = await provider.client();
  const strict = await provider.client({ requireSecret: true });
  const open = await provider.client({ public: true });
  const closed = await provider.client();
  await provider.ostiary.admin.clients.disable(closed.id);
  const rolled = await provider.client();
  await provider.ostiary.admin.clients.rotateSecret(rolled.id, { overlapSeconds: 30 });
  provider.clock.advance(30_000);
  const wrong = 'a-secret-of-another-client';

  await present(app, { client_secret: wrong });
  await present(app, { client_secret: undefined });
  await present(strict, { client_secret: undefined, code_verifier: 'x'.repeat(43) });
  await present(open, { client_secret: wrong });
  await present(closed);
  await present(rolled);
  await provider.call('/v1/oauth/token', new URLSearchParams({ grant_type: 'authorization_code' }), {
    authorization: 'Basic %%%',
  });
  expect(provider.logged).toEqual([
    { level: 'warn', message, fields: { client: app.id, reason: 'the client_secret is wrong' } },
    {
      level: 'warn',
      message,
      fields: { client: app.id, reason: 'neither a client_secret nor a code_verifier was sent' },
    },
    {
      level: 'warn',
      message,
      fields: { client: strict.id, reason: 'no client_secret was sent, which requireSecret asks for' },
    },
    {
      level: 'warn',
      message,
      fields: { client: open.id, reason: 'a client_secret was sent, and the client has none: it is public' },
    },
    { level: 'warn', message, fields: { client: closed.id, reason: 'the client is disabled' } },
    {
      level: 'warn',
      message,
      fields: { client: rolled.id, reason: 'the client_secret was replaced by another one, and has ended' },
    },
    { level: 'warn', message, fields: { reason: 'the Authorization header is malformed' } },
  ]);
  await provider.stop();
});

it('what is no client’s id is not told: it may be a secret in the wrong place', async () => {
  const { provider, present } = await start();
  const app = await provider.client();
  await present(app, { client_id: app.secret, client_secret: app.id });
  await present(app, { client_id: 'forged\nINFO all is well' });
  expect(provider.logged).toEqual([
    { level: 'warn', message, fields: { reason: 'no client has the client_id that was sent' } },
  ]);
  await provider.stop();
});

it('the same is told once a minute', async () => {
  const { provider, present } = await start();
  const [one, other] = [await provider.client(), await provider.client()];
  const reasons = () => provider.logged.map(({ fields }) => (fields as { client?: string }).client);
  for (let time = 0; time < 5; time += 1) await present(one, { client_secret: 'wrong' });
  await present(other, { client_secret: 'wrong' });
  expect(reasons()).toEqual([one.id, other.id]);
  provider.clock.advance(59_999);
  await present(one, { client_secret: 'wrong' });
  expect(reasons()).toHaveLength(2);
  provider.clock.advance(1);
  await present(one, { client_secret: 'wrong' });
  expect(reasons()).toEqual([one.id, other.id, one.id]);
  await provider.stop();
});

it('many clients take no more room than a thousand', () => {
  const lines: object[] = [];
  const log = (fields: object) => void lines.push(fields);
  const tell = authenticationLog({ debug: log, info: log, warn: log, error: log });
  for (let number = 0; number <= 1_000; number += 1) tell(new AuthenticationFailure(String(number), 'x'), 0);
  tell(new AuthenticationFailure('1000', 'x'), 0);
  expect(lines).toHaveLength(1_001);
  tell(new AuthenticationFailure('0', 'x'), 0);
  expect(lines).toHaveLength(1_002);
  tell(new Error('something else'), 0);
  expect(lines).toHaveLength(1_002);
});
