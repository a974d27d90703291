/** Proof: the web processes are replaced under load behind each proxy. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { type ProxyName, proxies } from '../../support/processes/proxies.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { proveBehind } from './prove.ts';

const { requests } = numbersFrom({ requests: 2_400 });
const rates = { userinfo: 30, exchange: 3, verify: 2, payment: 5 };
const claims: Claim[] = [];
for (const name of ['nginx', 'HAProxy', 'Caddy'] satisfies ProxyName[]) {
  if (proxies[name].program === undefined) console.log(`skipped: there is no ${name}`);
  else claims.push(...(await proveBehind(name, { requests, rates })));
}
endProof(claims);
