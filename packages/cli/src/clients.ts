import { readFile } from 'node:fs/promises';
import { type Client, ClientError, type ClientSettings } from '@ostiary/core/admin';
import { checkKnown } from './arguments.ts';
import { givenSettings, settingFlags, switches } from './client-flags.ts';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  CommandUsageError,
  pageFlags,
  pageOf,
  present,
  table,
  toggle,
  value,
  values,
} from './command.ts';
import { download } from './download.ts';
import { listOf } from './lists.ts';

/** Reads a JWK Set from a file. */
async function jwksIn(file: string): Promise<NonNullable<ClientSettings['jwks']>> {
  const text = await readFile(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandUsageError(`--jwks: ${file} is not JSON`);
  }
}

/** Reads the client keys that were given as flags. A JWK Set replaces a URL of keys, and the reverse. */
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

/** Reads a logo from a file, or from a public https URL. */
async function picture(source: string): Promise<Uint8Array> {
  return /^https?:/i.test(source) ? download(source, { maxBytes: maxLogoBytes }) : readFile(source);
}

/** Commands that manage OAuth clients. */
export const clientCommands: Commands = {
  'clients create': {
    about: 'provision an OAuth client; its secret is shown this once',
    example: '--name "Kafe Lakay" --redirect-uri https://kafe.example/callback --scope openid,kyc',
    flags: {
      ...settingFlags,
      name: value('shown to users on the consent page', { required: true }),
      public: toggle('an app that cannot keep a secret: no secret, PKCE required'),
      'client-id': value('chosen instead of generated'),
    },
    async run({ admin }, args) {
      const name = args.required('name');
      const { redirectUris = [], allowedScopes = [], ...settings } = givenSettings(args);
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
    flags: { ...settingFlags, off: values('switches to turn off', { oneOf: switches }) },
    positionals: ['client id'],
    async run({ admin }, args) {
      const [clientId = ''] = args.positionals;
      const changes = { ...givenSettings(args), ...(await givenKeys(args)) };
      if (Object.keys(changes).length === 0) {
        const all = [...Object.keys(settingFlags), 'off'].map((flag) => `--${flag}`);
        throw new CommandUsageError(`nothing to change was given; there is ${all.join(', ')}`);
      }
      checkKnown('scope', changes.allowedScopes ?? [], admin.clients.scopes);
      const client = await admin.clients.update(clientId, changes);
      return { text: table(properties(client)), json: { client } };
    },
  },

  'clients rotate-secret': {
    about: 'issue another secret, shown this once; without --overlap, the old one stops working at once',
    example: 'kafe --overlap 86400',
    flags: {
      overlap: value('seconds for which the old secret keeps working', { is: 'whole number', default: '0' }),
      'replace-keys': toggle('remove the keys of a client that has keys instead of a secret; not with fapi2'),
    },
    positionals: ['client id'],
    question(args) {
      const [clientId] = args.positionals;
      if (args.has('replace-keys')) return `Replace the keys of ${clientId}? They stop working at once.`;
      if (args.integer('overlap') !== 0) return null;
      return `Rotate the secret of ${clientId} without --overlap? The old secret stops working at once.`;
    },
    async run({ admin }, args) {
      const [clientId = ''] = args.positionals;
      const [overlapSeconds, replaceKeys] = [args.integer('overlap') ?? 0, args.has('replace-keys')];
      const { client, clientSecret } = await admin.clients.rotateSecret(clientId, {
        ...{ overlapSeconds, replaceKeys },
      });
      const old = overlapSeconds === 0 ? 'no longer works' : `works for another ${overlapSeconds} s`;
      const keys = replaceKeys ? ' Keys of the client no longer work.' : '';
      return withSecret(client, clientSecret, `${kept}${keys} An old secret ${old}.`);
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
