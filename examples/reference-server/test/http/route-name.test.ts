import { expect, test } from 'vitest';
import { routeNames } from '../../src/http/route-name.ts';
import { startServer } from '../support/server.ts';

test('requests are logged under the path of their route', async () => {
  const { ostiary } = (await startServer()).server.installation;
  const routeName = routeNames(ostiary.routes);
  const named = [
    ['/login?return_to=%2Fsecret', '/login'],
    ['/oauth/authorize?state=s', '/oauth/authorize'],
    ['/oauth/interaction/an-id/resume', '/oauth/interaction/:id/resume'],
    ['/oauth/interaction/an-id', '/oauth/interaction/:id'],
    ['/account/apps/kafe/revoke', '/account/apps/:clientId/revoke'],
    ['/v1/oauth/userinfo/svc_at_mistyped', '(no route)'],
    ['/passport?x=1', '/passport'],
    ['/v1/partner/users/phone/+50937000001', '/v1/partner/users/phone/:phone'],
    ['/v1/partner/webhooks/we_1/deliveries?limit=5', '/v1/partner/webhooks/:id/deliveries'],
    ['/sandbox/events/evt_1', '/sandbox/events/:id'],
    ['/sandbox/anything', '(no route)'],
    ['/whatever', '(no route)'],
    ['http://host/login', '(no route)'],
  ] as const;
  for (const [target, name] of named) expect(routeName(target), target).toBe(name);
  expect(ostiary.routes).toEqual([...new Set(ostiary.routes)]);
});
