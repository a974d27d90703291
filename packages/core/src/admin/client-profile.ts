import { hasKeys } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { fieldProblems } from '../text/field-problems.ts';

/**
 * Turns on the settings that a client's profile (FAPI 2.0) demands.
 * @throws TypeError where the FAPI 2.0 Security Profile (section 5.3.2) cannot hold: if one of the options `privateKeyJwt`, `pushedRequests` and
 * `dpop` is not set, or for a client without keys, with ID tokens signed by RS256, or with a redirect URI that is not https
 */
export function withProfile({ options }: Core, client: ClientRecord): ClientRecord {
  if (client.profile !== 'fapi2') return client;
  const { privateKeyJwt, pushedRequests, dpop } = options;
  const missing = Object.entries({ privateKeyJwt, pushedRequests, dpop }).filter(([, option]) => !option);
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ');
    throw new TypeError(`profile: ${fieldProblems.profile_options} (missing: ${names})`);
  }
  if (!hasKeys(client)) throw new TypeError(`profile: ${fieldProblems.profile_keys}`);
  if (client.idTokenAlg !== 'ES256') throw new TypeError(`idTokenAlg: ${fieldProblems.profile_alg}`);
  const insecure = client.redirectUris.findIndex((uri) => !uri.startsWith('https:'));
  if (insecure !== -1) throw new TypeError(`redirectUris.${insecure}: ${fieldProblems.profile_https}`);
  return { ...client, requirePkce: true, requirePushedRequests: true, requireDpop: true };
}
