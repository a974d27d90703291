import { describe, expect, it } from 'vitest';
import { type ProxyName, proxies } from '../../support/processes/proxies.ts';
import { problemsOf } from '../../support/proof.ts';
import { proveBehind } from './prove.ts';

const names = ['nginx', 'HAProxy', 'Caddy'] satisfies ProxyName[];

// Reduced size of `npm run proof:front`. A deployment mostly waits for connections to end, so all three run at once.
describe.concurrent.each(names)('behind %s', (name) => {
  it.skipIf(proxies[name].program === undefined)(
    'no request fails while the web processes are replaced',
    async () => {
      const rates = { userinfo: 6, exchange: 1, verify: 1, payment: 2 };
      expect(problemsOf(await proveBehind(name, { requests: 60, rates }))).toEqual([]);
    },
    180_000,
  );
});
