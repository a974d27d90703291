import { isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import { checkRedirectUris } from '../options/redirect-uris.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { PartnerNameError } from './partners.ts';

/**
 * Checks whether Ostiary may send requests to a URL. @throws TargetError whose message gives the reason if
 * not
 */
export type CheckTarget = (url: string) => Promise<unknown>;

/**
 * Checks that `requirePushedRequests` and `requireDpop` are set only with the options `pushedRequests` and
 * `dpop`, because the client could otherwise sign no user in. @throws TypeError if one of them is set without its option
 */
export function requireOptions(
  { options }: Core,
  settings: Partial<Pick<ClientRecord, 'requirePushedRequests' | 'requireDpop'>>,
): void {
  if (settings.requirePushedRequests === true && options.pushedRequests === undefined)
    throw new TypeError(`requirePushedRequests: ${fieldProblems.option_pushed}`);
  if (settings.requireDpop === true && !options.dpop)
    throw new TypeError(`requireDpop: ${fieldProblems.option_dpop}`);
}

/**
 * Checks that a partner exists. Checking first is enough: partners are never deleted, so one that exists now
 * also exists when the client is stored.
 * @throws PartnerNameError `partner_not_found`
 */
export async function requirePartner({ storage }: Core, slug: string | null): Promise<void> {
  if (slug !== null && (await storage.partners.find(slug)) === null)
    throw new PartnerNameError('partner_not_found', slug);
}

/** Names of a client's settings whose value is a URL to which Ostiary sends requests. */
const targetSettings = ['backchannelLogoutUri', 'jwksUri'] as const;

/**
 * Checks the URLs in a client's settings to which Ostiary would send requests. @throws TypeError that names
 * the setting whose URL is not allowed
 */
export async function requireTargets(
  checkTarget: CheckTarget,
  settings: { readonly [Name in (typeof targetSettings)[number]]?: string | null | undefined },
): Promise<void> {
  for (const name of targetSettings) {
    const url = settings[name];
    if (typeof url !== 'string') continue;
    await checkTarget(url).catch((error: Error) => {
      throw new TypeError(`${name}: ${error.message}`, { cause: error });
    });
  }
}

/**
 * Checks that a client's settings, each valid by itself, do not contradict each other. @throws TypeError that
 * names a setting which contradicts another
 */
export function refuseContradiction(
  client: Pick<
    ClientRecord,
    | 'requireSecret'
    | 'resourceServer'
    | 'secrets'
    | 'jwks'
    | 'jwksUri'
    | 'redirectUris'
    | 'loopbackPorts'
    | 'firstParty'
    | 'allowedScopes'
    | 'defaultScope'
    | 'optionalScopes'
    | 'postLogoutRedirectUris'
  >,
): void {
  const isPublic = isPublicClient(client);
  const isResourceServer = client.resourceServer === true;
  if (client.jwks && client.jwksUri) throw new TypeError(`jwksUri: ${fieldProblems.jwks_both}`);
  if (isPublic && client.requireSecret) throw new TypeError(`requireSecret: ${fieldProblems.secret_public}`);
  if (isPublic && isResourceServer) throw new TypeError(`resourceServer: ${fieldProblems.secret_public}`);
  if (!isPublic && client.loopbackPorts === 'any')
    throw new TypeError(`loopbackPorts: ${fieldProblems.port_public}`);
  const notAllowed = spaceSeparated(client.defaultScope ?? '').filter(
    (name) => !client.allowedScopes.includes(name),
  );
  if (notAllowed.length > 0)
    throw new TypeError(`defaultScope: ${notAllowed.join(' ')} ${fieldProblems.scope_not_allowed}`);
  const { optionalScopes = [] } = client;
  if (optionalScopes.includes('openid')) throw new TypeError(`optionalScopes: ${fieldProblems.scope_openid}`);
  const otherScopes = optionalScopes.filter((name) => !client.allowedScopes.includes(name));
  if (otherScopes.length > 0)
    throw new TypeError(`optionalScopes: ${otherScopes.join(' ')} ${fieldProblems.scope_not_allowed}`);
  const rules = { isPublic, firstParty: client.firstParty };
  if (client.postLogoutRedirectUris !== undefined && client.postLogoutRedirectUris.length > 0)
    checkRedirectUris(client.postLogoutRedirectUris, rules, 'postLogoutRedirectUris');
  // A pure API without user sign-in.
  if (isResourceServer && client.redirectUris.length === 0 && client.allowedScopes.length === 0) return;
  if (client.allowedScopes.length === 0) throw new TypeError('allowedScopes: needs at least one');
  checkRedirectUris(client.redirectUris, rules);
}
