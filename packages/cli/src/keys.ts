import { type ApiKey, type IssuedApiKey, keyScopes } from '@ostiary/core/admin';
import type { KeyScope } from '@ostiary/core/storage';
import {
  type CommandOutput,
  type Commands,
  CommandUsageError,
  listOf,
  present,
  table,
  toggle,
  value,
  values,
} from './command.ts';

function scopesOf(given: readonly string[]): readonly KeyScope[] {
  if (given.length === 0) throw new CommandUsageError('--scope is missing');
  if (given.includes('all')) return keyScopes;
  return given.map((name) => {
    const scope = keyScopes.find((candidate) => candidate === name);
    if (scope === undefined)
      throw new CommandUsageError(`--scope must be all, or of ${keyScopes.join(', ')}`);
    return scope;
  });
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  return expiresAt === null ? '' : `ends ${expiresAt}`;
}

function shownOnce({ apiKey, key, signingSecret }: IssuedApiKey, note: string): CommandOutput {
  const rows = [
    ['id', apiKey.id],
    ['partner', apiKey.partner],
    ['mode', apiKey.mode],
    ['scopes', apiKey.scopes.join(' ')],
    ['allowed from', apiKey.allowlist?.join(' ') ?? 'everywhere'],
    ['signature', apiKey.requireSignature ? 'required' : 'optional'],
    ['key', key],
    ['signing secret', signingSecret],
  ];
  return { text: table(rows), json: { apiKey, key, signingSecret }, note };
}

const kept = 'Keep the key and the signing secret now: they are not shown again.';

/** API keys of partners. */
export const keyCommands: Commands = {
  'keys issue': {
    about: 'issue an API key; it and its signing secret are shown this once',
    flags: {
      mode: value('live or test'),
      scope: values(`${keyScopes.join(', ')}; or all`),
      name: value('to tell keys apart'),
      allow: values('an address or CIDR range from which the key may be used (everywhere)'),
      'require-signature': toggle('refuse requests with a body that are not signed'),
      expires: value('when it ends, such as 2030-01-31T00:00:00Z (never)'),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const [partner = ''] = args.positionals;
      args.required('mode');
      const mode = args.oneOf('mode', ['live', 'test']) ?? 'test';
      const allowlist = args.list('allow');
      const issued = await admin.apiKeys.issue({
        partner,
        mode,
        scopes: scopesOf(args.list('scope')),
        requireSignature: args.has('require-signature'),
        ...present({ name: args.text('name'), expiresAt: args.time('expires') }),
        ...(allowlist.length > 0 && { allowlist }),
      });
      return shownOnce(issued, kept);
    },
  },

  'keys list': {
    about: 'the keys of a partner, newest first',
    positionals: ['partner'],
    async run({ admin }, { positionals: [slug = ''] }) {
      if ((await admin.partners.get(slug)) === null)
        throw new CommandUsageError(`there is no partner ${slug}`);
      const apiKeys = await admin.apiKeys.list(slug);
      const rows = apiKeys.map((key) => [
        ...[key.id, key.mode, key.name, key.scopes.join(' '), key.lastUsedAt ?? 'never', stateOf(key)],
      ]);
      return { text: listOf(['KEY ID', 'MODE', 'NAME', 'SCOPES', 'LAST USED', ''], rows), json: { apiKeys } };
    },
  },

  'keys roll': {
    about: 'issue a successor; the old key works for the overlap',
    flags: { overlap: value('seconds for which the old key keeps working (86400)') },
    positionals: ['key id'],
    async run({ admin }, args) {
      const [id = ''] = args.positionals;
      const overlapSeconds = args.integer('overlap') ?? 86_400;
      const issued = await admin.apiKeys.roll(id, { overlapSeconds });
      const old = overlapSeconds === 0 ? 'no longer works' : `works for another ${overlapSeconds} s`;
      return shownOnce(issued, `${kept} The old key ${old}.`);
    },
  },

  'keys revoke': {
    about: 'refuse a key from the next request on, in every process',
    positionals: ['key id'],
    question: ({ positionals: [id] }) =>
      `Revoke ${id}? Whoever uses it is refused, and it cannot be brought back.`,
    async run({ admin }, { positionals: [id = ''] }) {
      await admin.apiKeys.revoke(id);
      return { text: `Revoked ${id}.`, json: { revoked: id } };
    },
  },
};
