import type { Client } from '@ostiary/core';
import { type Command, type Output, runProgram, table, text, UsageError } from './command.ts';

const usage = `OAuth clients of this installation.

  npm run client -- create --name <name> --redirect-uri <uri> --scope <scope> [options]
  npm run client -- list [--after <client id>] [--limit <number>]
  npm run client -- show <client id>
  npm run client -- disable <client id>         ends every code and token of the client at once
  npm run client -- enable <client id>
  npm run client -- rotate-secret <client id> [--overlap <seconds>]

Options of create (--redirect-uri and --scope may be repeated)
  --public             for apps that cannot keep a secret: no secret, PKCE required
  --first-party        consent is remembered even for loopback and private-use redirect URIs
  --require-pkce       refuse authorization requests without PKCE
  --require-secret     refuse code exchanges without the secret, PKCE or not
  --id-token-alg <alg> RS256 (default) or ES256
  --client-id <id>     chosen instead of generated
  --partner <slug>     the partner that owns the client

A secret is shown once and cannot be shown again; rotate-secret makes a new one, and --overlap keeps the old one valid
for a while. --json prints JSON.`;

const flag = { type: 'boolean' } as const;
const repeated = { type: 'string', multiple: true } as const;

function properties(client: Client): readonly (readonly string[])[] {
  return [
    ['client_id', client.clientId],
    ['name', client.name],
    ['type', `${client.public ? 'public' : 'confidential'}${client.firstParty ? ', first-party' : ''}`],
    ...client.redirectUris.map((uri, at) => [at === 0 ? 'redirect URIs' : '', uri]),
    ['scopes', client.allowedScopes.join(' ')],
    ['ID tokens', client.idTokenAlg],
    ['partner', client.partner ?? 'none'],
    ['created', client.createdAt],
    ['state', client.disabledAt === null ? 'enabled' : `disabled since ${client.disabledAt}`],
  ];
}

function withSecret(client: Client, clientSecret: string | null, note: string): Output {
  const rows = clientSecret === null ? [] : [['client_secret', clientSecret]];
  const once = clientSecret === null ? '' : `\n\n${note}`;
  return { text: `${table([...properties(client), ...rows])}${once}`, json: { client, clientSecret } };
}

const create: Command = {
  flags: {
    name: text,
    'redirect-uri': repeated,
    scope: repeated,
    public: flag,
    'first-party': flag,
    'require-pkce': flag,
    'require-secret': flag,
    'id-token-alg': text,
    'client-id': text,
    partner: text,
  },
  positionals: [],
  async run({ ostiary }, args) {
    const name = args.required('name');
    const redirectUris = args.list('redirect-uri');
    const allowedScopes = args.list('scope');
    if (redirectUris.length === 0) throw new UsageError('--redirect-uri is missing');
    if (allowedScopes.length === 0) throw new UsageError('--scope is missing');
    const idTokenAlg = args.oneOf('id-token-alg', ['RS256', 'ES256']);
    const [clientId, partner] = [args.text('client-id'), args.text('partner')];
    const { client, clientSecret } = await ostiary.admin.clients.create({
      name,
      redirectUris,
      allowedScopes,
      ...(args.has('public') && { public: true }),
      ...(args.has('first-party') && { firstParty: true }),
      ...(args.has('require-pkce') && { requirePkce: true }),
      ...(args.has('require-secret') && { requireSecret: true }),
      ...(idTokenAlg !== undefined && { idTokenAlg }),
      ...(clientId !== undefined && { clientId }),
      ...(partner !== undefined && { partner }),
    });
    return withSecret(client, clientSecret, 'Keep the secret now: it is not shown again.');
  },
};

const list: Command = {
  flags: { after: text, limit: text },
  positionals: [],
  async run({ ostiary }, args) {
    const after = args.text('after');
    const limit = args.integer('limit');
    const { clients, next } = await ostiary.admin.clients.list({
      ...(after !== undefined && { after }),
      ...(limit !== undefined && { limit }),
    });
    const rows = clients.map((client) => [
      client.clientId,
      client.name,
      client.public ? 'public' : 'confidential',
      client.allowedScopes.join(' '),
      client.disabledAt === null ? '' : 'disabled',
    ]);
    const more = next === null ? '' : `\n\nMore: --after ${next}`;
    return {
      text: `${table([['CLIENT ID', 'NAME', 'TYPE', 'SCOPES', ''], ...rows])}${more}`,
      json: { clients, next },
    };
  },
};

const show: Command = {
  flags: {},
  positionals: ['client id'],
  async run({ ostiary }, { positionals: [clientId = ''] }) {
    const client = await ostiary.admin.clients.get(clientId);
    if (client === null) throw new UsageError(`there is no client ${clientId}`);
    return { text: table(properties(client)), json: { client } };
  },
};

const disable: Command = {
  flags: {},
  positionals: ['client id'],
  async run({ ostiary }, { positionals: [clientId = ''] }) {
    const client = await ostiary.admin.clients.disable(clientId);
    return { text: `Disabled ${clientId}: its codes and tokens are dead.`, json: { client } };
  },
};

const enable: Command = {
  flags: {},
  positionals: ['client id'],
  async run({ ostiary }, { positionals: [clientId = ''] }) {
    const client = await ostiary.admin.clients.enable(clientId);
    return { text: `Enabled ${clientId}. Users have to consent again.`, json: { client } };
  },
};

const rotateSecret: Command = {
  flags: { overlap: text },
  positionals: ['client id'],
  async run({ ostiary }, args) {
    const [clientId = ''] = args.positionals;
    const overlapSeconds = args.integer('overlap');
    const { client, clientSecret } = await ostiary.admin.clients.rotateSecret(
      clientId,
      overlapSeconds === undefined ? {} : { overlapSeconds },
    );
    const old =
      overlapSeconds === undefined || overlapSeconds === 0
        ? 'The old secret no longer works.'
        : `The old secret works for another ${overlapSeconds} s.`;
    return withSecret(client, clientSecret, `Keep the secret now: it is not shown again. ${old}`);
  },
};

process.umask(0o077);
process.exitCode = await runProgram(
  { create, list, show, disable, enable, 'rotate-secret': rotateSecret },
  usage,
  process.argv.slice(2),
);
