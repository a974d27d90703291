import { isIP } from 'node:net';
import { ask, probe, reasonOf } from './ask.ts';
import { type Examined, namesOf } from './examined.ts';
import { type CheckResult, ok, problem, sound, warning } from './finding.ts';
import { signingKeyIds } from './readings.ts';
import { stranger } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON object from a URL. Returns `{}` for any other response. @throws Error if the server does not
 * respond
 */
async function read(url: string): Promise<Json> {
  const { status, body } = await ask(url);
  try {
    const value: unknown = status === 200 ? JSON.parse(body) : null;
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

const foreign = (setting: string, url: string): CheckResult =>
  problem(
    `${setting} ${url} leads to something other than this installation`,
    'The server that responds has none of the sealing keys that the doctor was given.',
    'Check where the name and the proxy lead, and {sealingKeys} of the server behind it.',
  );

async function checkIssuer({ settings, database }: Examined): Promise<CheckResult> {
  const { authUrl } = settings;
  const { issuer, jwks_uri: keysUrl } = await read(`${authUrl}/.well-known/openid-configuration`);
  if (typeof issuer !== 'string' || typeof keysUrl !== 'string') return foreign('{authUrl}', authUrl);
  if (issuer !== authUrl) {
    return problem(
      `the issuer at ${authUrl} is ${issuer}`,
      'Apps compare the two, character by character, and refuse every ID token.',
      'Give all processes one {authUrl}: the address that people use.',
    );
  }
  // A foreign server could otherwise send the doctor to any URL in this network.
  if (!keysUrl.startsWith(`${new URL(authUrl).origin}/`)) return foreign('{authUrl}', authUrl);
  const { keys } = await read(keysUrl);
  const published = (Array.isArray(keys) ? keys : []).map((key: Json | null) => String(key?.kid));
  const known = await signingKeyIds(database);
  if (published.length === 0 || published.some((kid) => !known.includes(kid))) {
    return problem(
      `the signing keys at ${keysUrl} are not those of this database`,
      'Apps that read the keys of one process refuse ID tokens that another one signs.',
      'Give all processes the same database, and let nothing cache the address for longer than a minute.',
    );
  }
  return ok(`issuer ${authUrl}, ${published.length} signing keys`);
}

/** Checks from outside whether the configured URLs lead to this installation. */
export async function* checkAddress(examined: Examined): AsyncGenerator<CheckResult> {
  const { authUrl, baseUrl, sealingKeys } = examined.settings;
  const tried = (setting: string, url: string, work: () => Promise<CheckResult>): Promise<CheckResult> =>
    work().catch((error: unknown) =>
      problem(
        `${setting} ${url} does not respond (${reasonOf(error)})`,
        'People and apps are sent to this address.',
        'Check the name, the proxy and that a server runs; or correct the setting.',
      ),
    );
  const isOurs = (setting: string, url: string) =>
    tried(setting, url, async () =>
      (await probe(url, sealingKeys)) === null
        ? foreign(setting, url)
        : ok(`${setting} leads to this installation`),
    );
  const issuer = await tried('{authUrl}', authUrl, () => checkIssuer(examined));
  yield issuer;
  // Report a server that does not respond only once.
  if (issuer.verdict === 'ok') yield isOurs('{authUrl}', authUrl);
  if (baseUrl !== authUrl) yield isOurs('{baseUrl}', baseUrl);
}

/**
 * Checks whether a range of trusted proxies is wider than every range of private addresses, and therefore
 * contains addresses of the internet. A narrower range is not checked.
 */
export function isWideRange(range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  // The widest ranges of private addresses are 10.0.0.0/8 and fc00::/7.
  return bits !== '' && Number(bits) < (isIP(address) === 6 ? 7 : 8);
}

const strangerBelieved = (why: string): CheckResult =>
  problem(
    `a client's own X-Forwarded-For is trusted (${why})`,
    'Any client can claim an allowed IP address, and evade every limit per address.',
    'Let the proxy append to X-Forwarded-For or replace it, and name only its address in {trustedProxies}.',
  );

/** Checks whether servers see the IP addresses of their clients, and not those of proxies. */
export async function* checkProxies({ settings, nodes }: Examined): AsyncGenerator<CheckResult> {
  const wide = (nodes ?? []).filter(({ facts }) => facts.trustedProxies.some(isWideRange));
  if (wide.length > 0)
    return yield strangerBelieved(`{trustedProxies} of ${namesOf(wide)} is a part of the internet`);
  const { authUrl, sealingKeys } = settings;
  try {
    const plain = await probe(authUrl, sealingKeys);
    // Ask again with a forged client IP address.
    const lied = await probe(authUrl, sealingKeys, { 'x-forwarded-for': stranger });
    // `checkAddress` reports a server that does not respond.
    if (plain === null || lied === null) return;
    if (plain.isForwarded && !plain.peerIsTrusted) {
      yield problem(
        'there is a proxy in front that {trustedProxies} does not list',
        'All clients seem to have its IP address: they share its limits, and allowlists of keys refuse them.',
        'Put the address of the proxy, as the server sees it, into {trustedProxies}.',
      );
    } else if (lied.address !== stranger) yield ok('the X-Forwarded-For of a client is ignored');
    else if (plain.isTrusted)
      yield ok('the doctor runs on a trusted proxy, whose X-Forwarded-For is trusted: run it elsewhere, too');
    else yield strangerBelieved('tried');
  } catch {
    yield warning('not tried', 'No server responded at {authUrl}.', 'Fix the address first.');
  }
}

/**
 * Clock difference up to which the doctor reports nothing, in milliseconds: `Date` headers have whole
 * seconds, and a response takes time.
 */
const unremarkableMs = 2_500;
/**
 * Clock difference above which the doctor reports a problem, in milliseconds: codes and tokens would expire
 * noticeably early or late, and receivers of webhooks refuse a difference of 300 s.
 */
const tooFarMs = 30_000;

function* judgeClock(what: string, aheadMs: number): Generator<CheckResult> {
  const apart = Math.abs(aheadMs);
  if (!(apart > unremarkableMs)) return;
  const said = `${what} is ${(apart / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  yield (apart > tooFarMs ? problem : warning)(
    `${said} the clock of this machine`,
    'Codes, tokens and signatures expire early or late.',
    'Run a time service (NTP) on every machine, this one included.',
  );
}

/** Checks whether the clocks of servers, database and this machine agree. */
export async function* checkClock({ settings, now, nodes }: Examined): AsyncGenerator<CheckResult> {
  yield sound('all clocks agree');
  yield* judgeClock('the clock of the database', now() - Date.now());
  for (const { facts } of nodes ?? [])
    yield* judgeClock(`the machine of ${facts.name}`, facts.clockAheadMs + now() - Date.now());
  // `checkAddress` reports a server that does not respond.
  const probed = await probe(settings.authUrl, settings.sealingKeys).catch(() => null);
  if (probed === null) return;
  const { answer } = probed;
  yield* judgeClock('the responding server', probed.now - answer.askedAt);
  // Without a `Date` header the difference is NaN, and nothing is reported.
  yield* judgeClock('the Date header', Date.parse(answer.header('date') ?? '') + 500 - answer.askedAt);
}
