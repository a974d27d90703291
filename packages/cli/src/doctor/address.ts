import { z } from 'zod';
import { ask, reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';
import { signingKeyIds } from './readings.ts';

const discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });

const { ok, problem } = findingsOf('address');

/** Reads JSON at an address; `null` when something else is there. @throws Error when nothing answers */
async function read<Schema extends z.ZodType>(url: string, schema: Schema): Promise<z.output<Schema> | null> {
  const { status, body } = await ask(url);
  try {
    return status === 200 ? schema.parse(JSON.parse(body)) : null;
  } catch {
    return null;
  }
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
  const document = await read(`${authUrl}/.well-known/openid-configuration`, discovery);
  if (document === null) return foreign('{authUrl}', authUrl);
  if (document.issuer !== authUrl) {
    return problem(
      `the issuer at ${authUrl} is ${document.issuer}`,
      'Apps compare the two, character by character, and refuse every ID token.',
      'Give all processes one OSTIARY_AUTH_URL: the address that people use.',
    );
  }
  const published = (await read(document.jwks_uri, keySet))?.keys.map(({ kid }) => kid) ?? [];
  const known = await signingKeyIds(database);
  if (published.length === 0 || published.some((kid) => !known.includes(kid))) {
    return problem(
      `the signing keys at ${document.jwks_uri} are not those of this database`,
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
