import { expect, it } from 'vitest';
import { Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

/** Methods of each path without options; `x` stands for any id. */
const always = {
  '/oauth/authorize': 'GET, HEAD, POST',
  '/oauth/interaction/x': 'GET, HEAD, POST',
  '/oauth/interaction/x/resume': 'GET, HEAD',
  '/oauth/interaction/x/cancel': 'GET, HEAD, POST',
  '/oauth/client-logo/x': 'GET, HEAD',
  '/account/apps': 'GET, HEAD',
  '/account/apps/x/revoke': 'POST',
  '/account/apps/x/restore': 'POST',
  '/v1/oauth/token': 'POST, OPTIONS',
  '/v1/oauth/userinfo': 'GET, HEAD, POST, OPTIONS',
  '/v1/oauth/revoke': 'POST, OPTIONS',
};

/** Methods of each path that exists only with an option. */
const optional = {
  '/v1/oauth/par': 'POST, OPTIONS',
  '/v1/oauth/introspect': 'POST',
  '/oauth/logout': 'GET, HEAD, POST',
  '/oauth/logout/confirm': 'POST',
};

const plain = await startProvider();
const host = new Host();
const whole = await startProvider(
  { pushedRequests: {}, introspection: true, login: { ...host.login, signOut: () => undefined } },
  host,
);

it.each(Object.entries({ ...always, ...optional }))(
  '%s takes %s and no other method',
  async (path, methods) => {
    const { status, headers } = await whole.request(path, { method: 'DELETE' });
    expect([status, headers.get('allow')]).toEqual([405, methods]);
  },
);

it.each(Object.keys(always))('%s needs no option', async (path) => {
  expect((await plain.request(path, { method: 'DELETE' })).status).toBe(405);
});

it.each(Object.keys(optional))('%s is not found without its option', async (path) => {
  expect((await plain.request(path, { method: 'POST' })).status).toBe(404);
});
