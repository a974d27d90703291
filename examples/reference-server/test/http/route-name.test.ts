import { expect, test } from 'vitest';
import { routeName } from '../../src/http/route-name.ts';
import { startServer } from '../support/server.ts';

test.each([
  ['/login?return_to=%2Fsecret', '/login'],
  ['/oauth/authorize?state=s', '/oauth/authorize'],
  ['/oauth/authorize/an-id', '/oauth/authorize/:id'],
  ['/oauth/interaction/an-id', '/oauth/interaction/:id'],
  ['/account/apps/kafe/revoke', '/account/apps/:clientId/revoke'],
  ['/v1/oauth/userinfo/svc_at_mistyped', '(no route)'],
  ['/passport?x=1', '/passport'],
  ['/v1/partner/webhooks/we_1/deliveries?limit=5', '/v1/partner/webhooks/:id/deliveries'],
  ['/sandbox/events/evt_1', '/sandbox/events/:id'],
  ['/sandbox/anything', '(no route)'],
  ['/whatever', '(no route)'],
  ['http://host/login', '(no route)'],
])('%s is logged as %s', (target, name) => {
  expect(routeName(target)).toBe(name);
});

test('every operation of the partner API has a name in the log', async () => {
  const { origin } = await startServer();
  const { paths } = (await (await fetch(`${origin}/v1/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toContain('/v1/partner/whoami');
  for (const path of Object.keys(paths)) {
    const name = path.replaceAll(/\{(\w+)\}/g, ':$1');
    expect(routeName(path.replaceAll(/\{\w+\}/g, 'x'))).toBe(name);
  }
});
