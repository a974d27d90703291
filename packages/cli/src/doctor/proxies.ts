import { isIP } from 'node:net';
import { type Examined, namesOf } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';

const { ok, warning, problem } = findingsOf('proxies');

/** Whether a range of proxies holds addresses of the internet, whoever owns how much of it. */
export function isWideRange(range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  // The widest range that belongs to nobody but its user is 10.0.0.0/8, or fc00::/7.
  return bits !== '' && Number(bits) < (isIP(address) === 6 ? 7 : 8);
}

/** Belongs to nobody: addresses of documentation (RFC 5737). */
const stranger = '192.0.2.123';

const strangerBelieved = (why: string): Finding =>
  problem(
    `a caller who writes X-Forwarded-For is believed (${why})`,
    'Anybody can pass for an address of an allowlist, and escape every limit per address.',
    'Let the proxy append to X-Forwarded-For or replace it, and name only its address in {trustedProxies}.',
  );

/** Asks as a caller who lies about who they are. */
async function checkLive({ settings }: Examined): Promise<Finding | null> {
  const { authUrl, sealingKeys } = settings;
  const plain = await probe(authUrl, sealingKeys);
  const lied = await probe(authUrl, sealingKeys, { 'x-forwarded-for': stranger });
  // What does not answer has been told with the address.
  if (plain === null || lied === null) return null;
  if (plain.isForwarded && !plain.peerIsTrusted) {
    return problem(
      'a proxy stands in front that {trustedProxies} does not name',
      'Everybody seems to come from it, shares one limit, and allowlists of keys refuse everybody.',
      'Put the address of the proxy, as the server sees it, into {trustedProxies}.',
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
  const wide = (examined.nodes ?? []).filter(({ facts }) => facts.trustedProxies.some(isWideRange));
  if (wide.length > 0)
    return [strangerBelieved(`{trustedProxies} of ${namesOf(wide)} is a part of the internet`)];
  try {
    const found = await checkLive(examined);
    return found === null ? [] : [found];
  } catch {
    return [warning('not tried', 'Nothing answered at {authUrl}.', 'Mend the address first.')];
  }
}
