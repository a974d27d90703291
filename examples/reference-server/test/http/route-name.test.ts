import { expect, test } from 'vitest';
import { routeName } from '../../src/http/route-name.ts';

test.each([
  ['/login?return_to=%2Fsecret', '/login'],
  ['/oauth/authorize?state=s', '/oauth/authorize'],
  ['/oauth/authorize/an-id', '/oauth/authorize/:id'],
  ['/oauth/interaction/an-id', '/oauth/interaction/:id'],
  ['/account/apps/kafe/revoke', '/account/apps/:clientId/revoke'],
  ['/v1/oauth/userinfo/svc_at_mistyped', '(no route)'],
  ['/whatever', '(no route)'],
  ['http://host/login', '(no route)'],
])('%s is logged as %s', (target, name) => {
  expect(routeName(target)).toBe(name);
});
