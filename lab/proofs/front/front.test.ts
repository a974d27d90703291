import { describe, expect, it } from 'vitest';
import { type ProxyName, proxies } from '../../support/processes/proxies.ts';
import { problemsOf } from '../../support/proof.ts';
import { proveBehind } from './prove.ts';

const names = ['nginx', 'HAProxy', 'Caddy'] satisfies ProxyName[];

// Reduced size of `npm run proof:front`. One proxy after the other: a slow machine that runs other tests beside
// three deployments answers some requests too late.
describe.each(names)('behind %s', (name) => {
  it.skipIf(proxies[name].program === undefined)(
    'no request fails while the web processes are replaced',
    async () => {
      const rates = { userinfo: 6, exchange: 1, verify: 1, payment: 2 };
      expect(problemsOf(await proveBehind(name, { requests: 60, rates }))).toEqual([]);
    },
    180_000,
  );
});
