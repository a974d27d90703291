import { type CommandArguments, CommandUsageError, present, toggle, value, values } from './command.ts';

/** Flags for the settings of a client. */
export const settingFlags = {
  name: value('shown to users on the consent page'),
  'redirect-uri': values('where users are sent back to'),
  'loopback-ports': value('exact (default), or any: the port of a loopback redirect URI is not compared', {
    oneOf: ['exact', 'any'],
  }),
  scope: values('what the client may ask for'),
  'optional-scope': values('an allowed scope that users may leave out; "none": users approve all or nothing'),
  'default-scope': values('what a request without scope asks for; "none": it is refused'),
  'require-pkce': toggle('refuse authorization requests without PKCE'),
  'require-secret': toggle('refuse code exchanges without the secret, PKCE or not'),
  jwks: value(
    'file with the public keys of a client that signs instead of sending a secret (private_key_jwt)',
  ),
  'jwks-uri': value('https URL at which the client serves these keys'),
  'require-pushed-requests': toggle('refuse authorization requests that were not pushed (PAR)'),
  'require-dpop': toggle('refuse token requests without a DPoP proof; needs the option dpop'),
  'first-party': toggle('remember consent even for loopback and private-use redirect URIs'),
  'refresh-without-offline-access': toggle('issue a refresh token with every code, asked for or not'),
  'resource-server': toggle('an API that may ask about access tokens; it need not be an app'),
  'terms-url': value('https URL of the terms of service, linked from the consent page; "none" removes it'),
  'privacy-url': value('https URL of the privacy policy, linked from the consent page; "none" removes it'),
  profile: value('fapi2: the FAPI 2.0 Security Profile, or none', { oneOf: ['fapi2', 'none'] }),
  'post-logout-redirect-uri': values('where users may return to after they signed out'),
  'backchannel-logout-uri': value('URL that is notified when a user signs out; "none" removes it'),
  'id-token-alg': value('RS256 (default) or ES256', { oneOf: ['RS256', 'ES256'] }),
  partner: value('slug of the partner that owns the client'),
} as const;

/** Returns the optional scopes of a client from the words of its flag; no scopes for the word `none`. */
const optionalScopesOf = (names: readonly string[]): readonly string[] =>
  names.length === 1 && names[0] === 'none' ? [] : names;

/** Returns the default scope of a client from the words of its flag; `null` for the word `none`. */
const defaultScopeOf = (names: readonly string[]): string | null =>
  names.length === 1 && names[0] === 'none' ? null : names.join(' ');

/** Names of the client settings that are switches: flags without a value. */
export const switches = Object.entries(settingFlags)
  .filter(([, { type }]) => type === 'boolean')
  .map(([name]) => name);

/** Returns the value of a flag whose word `none` removes the setting. */
function removable(args: CommandArguments, flag: string): string | null | undefined {
  const text = args.text(flag);
  return text === 'none' ? null : text;
}

const profileOf = (name: 'fapi2' | 'none' | undefined): 'fapi2' | null | undefined =>
  name === 'none' ? null : name;

/**
 * Returns the value of a switch: on if its flag was given, off if `--off` names it. Otherwise `undefined`, so that the setting
 * stays as it is.
 * @throws CommandUsageError for both at once
 */
function switched(args: CommandArguments, flag: string): boolean | undefined {
  const [isOn, isOff] = [args.has(flag), args.list('off').includes(flag)];
  if (isOn && isOff) throw new CommandUsageError(`--${flag} and --off ${flag}: it is either on or off`);
  return isOn || isOff ? isOn : undefined;
}

/** Returns the settings of a client that were given as flags. */
export function givenSettings(args: CommandArguments) {
  const some = <Item>(items: readonly Item[]) => (items.length > 0 ? items : undefined);
  return present({
    name: args.text('name'),
    partner: args.text('partner'),
    redirectUris: some(args.list('redirect-uri')),
    loopbackPorts: args.oneOf('loopback-ports', ['exact', 'any']),
    allowedScopes: some(args.list('scope')),
    optionalScopes: some(args.list('optional-scope')) && optionalScopesOf(args.list('optional-scope')),
    defaultScope: some(args.list('default-scope')) && defaultScopeOf(args.list('default-scope')),
    postLogoutRedirectUris: some(args.list('post-logout-redirect-uri')),
    backchannelLogoutUri: removable(args, 'backchannel-logout-uri'),
    termsUrl: removable(args, 'terms-url'),
    privacyUrl: removable(args, 'privacy-url'),
    firstParty: switched(args, 'first-party'),
    refreshWithoutOfflineAccess: switched(args, 'refresh-without-offline-access'),
    requirePkce: switched(args, 'require-pkce'),
    requireSecret: switched(args, 'require-secret'),
    requirePushedRequests: switched(args, 'require-pushed-requests'),
    requireDpop: switched(args, 'require-dpop'),
    profile: profileOf(args.oneOf('profile', ['fapi2', 'none'])),
    resourceServer: switched(args, 'resource-server'),
    idTokenAlg: args.oneOf('id-token-alg', ['RS256', 'ES256']),
  });
}
