import { expect, it } from 'vitest';
import { AuthenticationFailure, authenticationLog } from '../../src/oauth/client-authentication.ts';
import { basic, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const line = (reason: string, client?: TestClient) => ({
  level: 'warn',
  message: 'a client could not be authenticated; the same is told once a minute',
  fields: { ...(client && { client: client.id }), reason },
});

it('the log says which client failed and why, and never a secret', async () => {
  const provider = await startProvider();
  const { admin } = provider.ostiary;
  const app = await provider.client();
  const strict = await provider.client({ requireSecret: true });
  const open = await provider.client({ public: true });
  const closed = await provider.client();
  await admin.clients.disable(closed.id);
  const rolled = await provider.client();
  await admin.clients.rotateSecret(rolled.id, { overlapSeconds: 30 });
  provider.clock.advance(30_000);
  const wrong = 'a-secret-of-another-client';

  await provider.exchange(app, 'no-code', { client_secret: wrong });
  await provider.exchange(app, 'no-code', { client_secret: undefined });
  await provider.exchange(strict, 'no-code', { client_secret: undefined, code_verifier: 'x'.repeat(43) });
  await provider.exchange(open, 'no-code', { client_secret: wrong });
  await provider.exchange(closed, 'no-code');
  await provider.exchange(rolled, 'no-code');
  const form = new URLSearchParams({ grant_type: 'authorization_code' });
  await provider.call('/v1/oauth/token', form, { authorization: 'Basic %%%' });
  expect(provider.logged).toEqual([
    line('the client_secret is wrong', app),
    line('neither a client_secret nor a code_verifier was sent', app),
    line('no client_secret was sent, which requireSecret asks for', strict),
    line('a client_secret was sent, and the client has none: it is public', open),
    line('the client is disabled', closed),
    line('the client_secret was replaced by another one, and has ended', rolled),
    line('the Authorization header is malformed'),
  ]);
});

it('what is no client’s id is not told: it may be a secret in the wrong place', async () => {
  const provider = await startProvider();
  const app = await provider.client();
  await provider.exchange(app, 'no-code', { client_id: app.secret, client_secret: app.id });
  await provider.exchange(app, 'no-code', { client_id: 'forged\nINFO all is well' });
  await provider.call('/v1/oauth/token', new URLSearchParams(), { authorization: basic('x', app.secret) });
  expect(provider.logged).toEqual([line('no client has the client_id that was sent')]);
});

it('the same is told once a minute', async () => {
  const provider = await startProvider();
  const [one, other] = [await provider.client(), await provider.client()];
  const fail = (client: TestClient) => provider.exchange(client, 'no-code', { client_secret: 'wrong' });
  const told = () => provider.logged.map(({ fields }) => (fields as { client?: string }).client);
  for (let time = 0; time < 5; time += 1) await fail(one);
  await fail(other);
  expect(told()).toEqual([one.id, other.id]);
  provider.clock.advance(59_999);
  await fail(one);
  expect(told()).toHaveLength(2);
  provider.clock.advance(1);
  await fail(one);
  expect(told()).toEqual([one.id, other.id, one.id]);
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
