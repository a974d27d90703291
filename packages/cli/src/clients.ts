import { readFile } from 'node:fs/promises';
import { type Client, ClientError, type ClientSettings } from '@ostiary/core/admin';
import { checkKnown } from './arguments.ts';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  CommandUsageError,
  listOf,
  pageFlags,
  pageOf,
  present,
  table,
  toggle,
  value,
  values,
} from './command.ts';
import { download } from './download.ts';

const settings = {
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

/** Returns optional scopes from their words; none for the word `none`. */
const optionalScopesOf = (names: readonly string[]): readonly string[] =>
  names.length === 1 && names[0] === 'none' ? [] : names;

/** Returns a default scope from its words; `null` for the word `none`. */
const defaultScopeOf = (names: readonly string[]): string | null =>
  names.length === 1 && names[0] === 'none' ? null : names.join(' ');

/** Names of the switches, which are the flags without a value. */
const switches = Object.entries(settings)
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

/** Settings of a client that were given as flags. */
function given(args: CommandArguments) {
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

/** Reads a JWK Set from a file. */
async function jwksIn(file: string): Promise<NonNullable<ClientSettings['jwks']>> {
  const text = await readFile(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandUsageError(`--jwks: ${file} is not JSON`);
  }
}

/** Reads the keys that were given. Keys of one kind take the place of the other kind. */
async function givenKeys(args: CommandArguments): Promise<Pick<ClientSettings, 'jwks' | 'jwksUri'>> {
  const [file, jwksUri] = [args.text('jwks'), args.text('jwks-uri')];
  if (file !== undefined && jwksUri !== undefined)
    throw new CommandUsageError('--jwks and --jwks-uri: a client has one of the two');
  if (file !== undefined) return { jwks: await jwksIn(file), jwksUri: null };
  return jwksUri === undefined ? {} : { jwks: null, jwksUri };
}

const typeOf = (client: Client): string =>
  [
    client.public ? 'public' : 'confidential',
    ...(client.firstParty ? ['first-party'] : []),
    ...(client.resourceServer ? ['resource server'] : []),
  ].join(', ');

function properties(client: Client): readonly (readonly string[])[] {
  return [
    ['client_id', client.clientId],
    ['name', client.name],
    ['type', typeOf(client)],
    ...(client.document ? [['described by', 'its metadata document, which is unchecked']] : []),
    ...client.redirectUris.map((uri, at) => [at === 0 ? 'redirect URIs' : '', uri]),
    ...(client.loopbackPorts === 'any' ? [['loopback ports', 'any']] : []),
    ...(client.postLogoutRedirectUris ?? []).map((uri, at) => [at === 0 ? 'after logout' : '', uri]),
    ...(client.termsUrl ? [['terms of service', client.termsUrl]] : []),
    ...(client.privacyUrl ? [['privacy policy', client.privacyUrl]] : []),
    ...(client.backchannelLogoutUri ? [['notified of logouts', client.backchannelLogoutUri]] : []),
    ...(client.jwks?.keys ?? []).map(({ kty, kid = 'without id' }, at) => [
      at === 0 ? 'keys' : '',
      `${kty} ${kid}`,
    ]),
    ...(client.jwksUri ? [['keys at', client.jwksUri]] : []),
    ...(client.requirePushedRequests ? [['requests', 'have to be pushed']] : []),
    ['scopes', client.allowedScopes.join(' ')],
    ...(client.optionalScopes?.length ? [['optional scopes', client.optionalScopes.join(' ')]] : []),
    ...(client.defaultScope ? [['default scope', client.defaultScope]] : []),
    ...(client.refreshWithoutOfflineAccess ? [['refresh tokens', 'with every code']] : []),
    ['ID tokens', client.idTokenAlg],
    ...(client.profile ? [['profile', client.profile]] : []),
    ...(client.requireDpop ? [['access tokens', 'bound to a key (DPoP)']] : []),
    ['partner', client.partner ?? 'none'],
    ['created', client.createdAt],
    ['state', client.disabledAt === null ? 'enabled' : `disabled since ${client.disabledAt}`],
  ];
}

function withSecret(client: Client, clientSecret: string | null, note: string): CommandOutput {
  const rows = clientSecret === null ? [] : [['client_secret', clientSecret]];
  const output = { text: table([...properties(client), ...rows]), json: { client, clientSecret } };
  return clientSecret === null ? output : { ...output, note };
}

const kept = 'Keep the secret now: it is not shown again.';

/** Largest logo that is accepted, in bytes. */
const maxLogoBytes = 65_536;

/** Reads an image from a file, or from a public https URL. */
async function picture(source: string): Promise<Uint8Array> {
  return /^https?:/i.test(source) ? download(source, { maxBytes: maxLogoBytes }) : readFile(source);
}

/** Commands that manage OAuth clients. */
export const clientCommands: Commands = {
  'clients create': {
    about: 'provision an OAuth client; its secret is shown this once',
    example: '--name "Kafe Lakay" --redirect-uri https://kafe.example/callback --scope openid,kyc',
    flags: {
      ...settings,
      name: value('shown to users on the consent page', { required: true }),
      public: toggle('an app that cannot keep a secret: no secret, PKCE required'),
      'client-id': value('chosen instead of generated'),
    },
    async run({ admin }, args) {
      const name = args.required('name');
      const { redirectUris = [], allowedScopes = [], ...settings } = given(args);
      const isApp = settings.resourceServer !== true || redirectUris.length + allowedScopes.length > 0;
      const missing = Object.entries({ 'redirect-uri': redirectUris, scope: allowedScopes })
        .filter(([, given]) => isApp && given.length === 0)
        .map(([flag]) => `--${flag} is missing: every client but a pure --resource-server has one`);
      if (missing.length > 0) throw new CommandUsageError(missing);
      checkKnown('scope', allowedScopes, admin.clients.scopes);
      const { client, clientSecret } = await admin.clients.create({
        ...settings,
        ...(await givenKeys(args)),
        ...present({ clientId: args.text('client-id') }),
        ...{ name, redirectUris, allowedScopes, public: args.has('public') },
      });
      return withSecret(client, clientSecret, kept);
    },
  },

  'clients list': {
    about: 'clients by id',
    example: '',
    flags: {
      ...pageFlags,
      documents: toggle('the clients that describe themselves with a metadata document, and no others'),
    },
    async run({ admin }, args) {
      const { clients, next } = await admin.clients.list({
        ...pageOf(args),
        documents: args.has('documents'),
      });
      const rows = clients.map((client) => [
        client.clientId,
        client.name,
        client.public ? 'public' : 'confidential',
        client.allowedScopes.join(' '),
        client.disabledAt === null ? '' : 'disabled',
      ]);
      return {
        text: listOf(['CLIENT ID', 'NAME', 'TYPE', 'SCOPES', ''], rows, next),
        json: { clients, next },
      };
    },
  },

  'clients show': {
    about: 'one client',
    example: 'kafe',
    positionals: ['client id'],
    async run({ admin }, { positionals: [clientId = ''] }) {
      const client = await admin.clients.get(clientId);
      if (client === null) throw new ClientError('client_not_found', clientId);
      return { text: table(properties(client)), json: { client } };
    },
  },

  'clients update': {
    about: 'change what is given',
    example: 'kafe --require-pkce',
    flags: { ...settings, off: values('switches to turn off', { oneOf: switches }) },
    positionals: ['client id'],
    async run({ admin }, args) {
      const [clientId = ''] = args.positionals;
      const changes = { ...given(args), ...(await givenKeys(args)) };
      if (Object.keys(changes).length === 0) {
        const all = [...Object.keys(settings), 'off'].map((flag) => `--${flag}`);
        throw new CommandUsageError(`nothing to change was given; there is ${all.join(', ')}`);
      }
      checkKnown('scope', changes.allowedScopes ?? [], admin.clients.scopes);
      const client = await admin.clients.update(clientId, changes);
      return { text: table(properties(client)), json: { client } };
    },
  },

  'clients rotate-secret': {
    about: 'issue another secret; it is shown this once',
    example: 'kafe --overlap 86400',
    flags: {
      overlap: value('seconds for which the old secret keeps working', { is: 'whole number', default: '0' }),
      'replace-keys': toggle('remove the keys of a client that has keys instead of a secret'),
    },
    positionals: ['client id'],
    async run({ admin }, args) {
      const [clientId = ''] = args.positionals;
      const [overlapSeconds, replaceKeys] = [args.integer('overlap') ?? 0, args.has('replace-keys')];
      const { client, clientSecret } = await admin.clients.rotateSecret(clientId, {
        ...{ overlapSeconds, replaceKeys },
      });
      const old = overlapSeconds === 0 ? 'no longer works' : `works for another ${overlapSeconds} s`;
      return withSecret(client, clientSecret, `${kept} The old secret ${old}.`);
    },
  },

  'clients set-logo': {
    about:
      'show a logo next to the name: a square PNG of 32 to 1024 pixels, from a file or fetched once from a public https address; "none" removes it',
    example: 'kafe logo.png',
    positionals: ['client id', 'file or URL'],
    async run({ admin }, { positionals: [clientId = '', source = ''] }) {
      const client = await admin.clients.setLogo(clientId, source === 'none' ? null : await picture(source));
      return {
        text: source === 'none' ? `${clientId} has no logo.` : `${clientId} has a logo.`,
        json: { client },
      };
    },
  },

  'clients disable': {
    about: 'refuse the client, and end every code and token of its users',
    example: 'kafe',
    positionals: ['client id'],
    question: ({ positionals: [clientId] }) =>
      `Disable ${clientId}? Every consent, code and token of its users is revoked at once, and cannot be restored.`,
    async run({ admin }, { positionals: [clientId = ''] }) {
      const client = await admin.clients.disable(clientId);
      return { text: `Disabled ${clientId}: its codes and tokens are revoked.`, json: { client } };
    },
  },

  'clients enable': {
    about: 'let a disabled client in again; its users must consent again',
    example: 'kafe',
    positionals: ['client id'],
    async run({ admin }, { positionals: [clientId = ''] }) {
      const client = await admin.clients.enable(clientId);
      return { text: `Enabled ${clientId}. Users must consent again.`, json: { client } };
    },
  },
};
