import { expect, it } from 'vitest';
import { basic, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const message = 'a client could not be authenticated';
const line = (reason: string, client?: TestClient) => {
  return { level: 'warn', message, fields: { ...(client && { client: client.id }), reason } };
};
const wrong = { client_secret: 'a-secret-of-another-client' };

it('the log says which client failed and why, and never a secret', async () => {
  const { clients } = provider.ostiary.admin;
  const [app, closed, rolled] = [await provider.client(), await provider.client(), await provider.client()];
  const strict = await provider.client({ requireSecret: true });
  const open = await provider.client({ public: true });
  await clients.disable(closed.id);
  await clients.rotateSecret(rolled.id, { overlapSeconds: 30 });
  provider.clock.advance(30_000);
  provider.logged.length = 0;
  await provider.exchange(app, 'no-code', wrong);
  await provider.exchange(app, 'no-code', { client_secret: undefined });
  await provider.exchange(strict, 'no-code', { client_secret: undefined, code_verifier: 'x'.repeat(43) });
  await provider.exchange(open, 'no-code', wrong);
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

it('an unknown client_id is not logged: it may be a secret in the wrong place', async () => {
  const app = await provider.client();
  provider.logged.length = 0;
  await provider.exchange(app, 'no-code', { client_id: app.secret, client_secret: app.id });
  await provider.exchange(app, 'no-code', { client_id: 'forged\nINFO all is well' });
  await provider.call('/v1/oauth/token', new URLSearchParams(), { authorization: basic('x', app.secret) });
  const unknown = line('no client has the client_id that was sent');
  expect(provider.logged).toEqual([unknown, unknown]);
});
