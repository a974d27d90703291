import { ask, reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';
import { signingKeyIds } from './readings.ts';

const { ok, problem } = findingsOf('address');

/** Reads a JSON object at an address; `null` when something else is there. @throws Error when nothing answers */
async function read(url: string): Promise<Readonly<Record<string, unknown>> | null> {
  const { status, body } = await ask(url);
  try {
    const value: unknown = status === 200 ? JSON.parse(body) : null;
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Names of the keys of a JWK Set; none of anything else. */
function kidsOf(keySet: Readonly<Record<string, unknown>> | null): readonly unknown[] {
  const keys = keySet !== null && Array.isArray(keySet.keys) ? keySet.keys : [];
  return keys.map((key: { readonly kid?: unknown } | null) => key?.kid);
}

const unreachable = (setting: string, url: string, error: unknown): Finding =>
  problem(
    `${setting} ${url} does not answer (${reasonOf(error)})`,
    'People and apps are sent to this address.',
    'Check the name, the proxy and that a server runs; or correct the setting.',
  );

const foreign = (setting: string, url: string): Finding =>
  problem(
    `${setting} ${url} is answered by something else than this installation`,
    'What answers has none of the sealing keys that the doctor was given.',
    'Check where the name and the proxy lead, and {sealingKeys} of the server behind it.',
  );

async function checkIssuer({ settings, database }: Examined): Promise<Finding> {
  const { authUrl } = settings;
  const document = await read(`${authUrl}/.well-known/openid-configuration`);
  const { issuer, jwks_uri: keysUrl } = document ?? {};
  if (typeof issuer !== 'string' || typeof keysUrl !== 'string') return foreign('{authUrl}', authUrl);
  if (issuer !== authUrl) {
    return problem(
      `the issuer at ${authUrl} is ${issuer}`,
      'Apps compare the two, character by character, and refuse every ID token.',
      'Give all processes one {authUrl}: the address that people use.',
    );
  }
  const published = kidsOf(await read(keysUrl));
  const known = await signingKeyIds(database);
  if (published.length === 0 || published.some((kid) => typeof kid !== 'string' || !known.includes(kid))) {
    return problem(
      `the signing keys at ${keysUrl} are not those of this database`,
      'ID tokens that one process signs are refused by whoever reads the keys of another.',
      'Give all processes the same database, and let nothing cache the address for longer than a minute.',
    );
  }
  return ok(`issuer ${authUrl}, ${published.length} signing keys`);
}

async function checkHost(setting: string, url: string, { settings }: Examined): Promise<Finding> {
  return (await probe(url, settings.sealingKeys)) === null
    ? foreign(setting, url)
    : ok(`${setting} leads to this installation`);
}

/** Whether what the settings say about addresses is true out there. */
export async function checkAddress(examined: Examined): Promise<readonly Finding[]> {
  const { authUrl, baseUrl } = examined.settings;
  const tried = async (setting: string, url: string, work: () => Promise<Finding>): Promise<Finding> => {
    try {
      return await work();
    } catch (error) {
      return unreachable(setting, url, error);
    }
  };
  const issuer = await tried('{authUrl}', authUrl, () => checkIssuer(examined));
  const hosts = Object.entries({ '{authUrl}': authUrl, '{baseUrl}': baseUrl })
    // What does not answer is said once.
    .filter(([setting, url]) => (setting === '{authUrl}' ? issuer.verdict === 'ok' : url !== authUrl));
  const findings = hosts.map(([setting, url]) =>
    tried(setting, url, () => checkHost(setting, url, examined)),
  );
  return [issuer, ...(await Promise.all(findings))];
}
