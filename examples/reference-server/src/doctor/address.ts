import { z } from 'zod';
import type { ServerConfig } from '../config.ts';
import { signingKeyIds } from '../operations/readings.ts';
import { ask, reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';

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

const unreachable = (variable: string, url: string, error: unknown): Finding =>
  problem(
    `${variable} ${url} does not answer (${reasonOf(error)})`,
    'People and apps are sent to this address.',
    'Check the name, the proxy and that a server runs; or correct the variable.',
  );

const foreign = (variable: string, url: string): Finding =>
  problem(
    `${variable} ${url} is answered by something else than this installation`,
    'What answers has none of the sealing keys that the doctor was given.',
    'Check where the name and the proxy lead, and OSTIARY_SEALING_KEYS of the server behind it.',
  );

async function checkIssuer({ config, database }: Examined): Promise<Finding> {
  const { authUrl } = config;
  const document = await read(`${authUrl}/.well-known/openid-configuration`, discovery);
  if (document === null) return foreign('OSTIARY_AUTH_URL', authUrl);
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

async function checkHost(variable: string, url: string, { sealingKeys }: ServerConfig): Promise<Finding> {
  return (await probe(url, sealingKeys)) === null
    ? foreign(variable, url)
    : ok(`${variable} leads to this installation`);
}

/** Whether what the settings say about addresses is true out there. */
export async function checkAddress(examined: Examined): Promise<readonly Finding[]> {
  const { authUrl, baseUrl } = examined.config;
  const tried = async (variable: string, url: string, work: () => Promise<Finding>): Promise<Finding> => {
    try {
      return await work();
    } catch (error) {
      return unreachable(variable, url, error);
    }
  };
  const issuer = await tried('OSTIARY_AUTH_URL', authUrl, () => checkIssuer(examined));
  const hosts = Object.entries({ OSTIARY_AUTH_URL: authUrl, OSTIARY_BASE_URL: baseUrl })
    // What does not answer is said once.
    .filter(([variable, url]) =>
      variable === 'OSTIARY_AUTH_URL' ? issuer.verdict === 'ok' : url !== authUrl,
    );
  const findings = hosts.map(([variable, url]) =>
    tried(variable, url, () => checkHost(variable, url, examined.config)),
  );
  return [issuer, ...(await Promise.all(findings))];
}
