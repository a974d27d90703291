import { isWideRange } from '../settings.ts';
import { type Examined, namesOf } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';

const { ok, warning, problem } = findingsOf('proxies');

/** Belongs to nobody: addresses of documentation (RFC 5737). */
const stranger = '192.0.2.123';

const strangerBelieved = (why: string): Finding =>
  problem(
    `a caller who writes X-Forwarded-For is believed (${why})`,
    'Anybody can pass for an address of an allowlist, and escape every limit per address.',
    'Let the proxy append to X-Forwarded-For or replace it, and name only its address in OSTIARY_TRUSTED_PROXIES.',
  );

/** Asks as a caller who lies about who they are. */
async function checkLive({ config }: Examined): Promise<Finding | null> {
  const { authUrl, sealingKeys } = config;
  const plain = await probe(authUrl, sealingKeys);
  const lied = await probe(authUrl, sealingKeys, { 'x-forwarded-for': stranger });
  // What does not answer has been told with the address.
  if (plain === null || lied === null) return null;
  if (plain.isForwarded && !plain.peerIsTrusted) {
    return problem(
      'a proxy stands in front that OSTIARY_TRUSTED_PROXIES does not name',
      'Everybody seems to come from it, shares one limit, and allowlists of keys refuse everybody.',
      'Put the address of the proxy, as the server sees it, into OSTIARY_TRUSTED_PROXIES.',
    );
  }
  if (lied.address === stranger && !plain.isTrusted) return strangerBelieved('tried');
  if (lied.address === stranger) {
    return ok('the doctor runs on a trusted proxy, whose word counts: run it elsewhere too');
  }
  return ok('X-Forwarded-For of a stranger is ignored');
}

/** Whether servers know who their callers are. */
export async function checkProxies(examined: Examined): Promise<readonly Finding[]> {
  const wide = examined.nodes.filter(({ facts }) => facts.trustedProxies.some(isWideRange));
  if (wide.length > 0)
    return [strangerBelieved(`OSTIARY_TRUSTED_PROXIES of ${namesOf(wide)} is a part of the internet`)];
  try {
    const found = await checkLive(examined);
    return found === null ? [] : [found];
  } catch {
    return [warning('not tried', 'Nothing answered at OSTIARY_AUTH_URL.', 'Mend the address first.')];
  }
}
