import { type ApiKey, type IssuedApiKey, keyScopes, PartnerNameError } from '@ostiary/core/admin';
import type { KeyScope } from '@ostiary/core/storage';
import { type CommandOutput, type Commands, present, table, toggle, value, values } from './command.ts';
import { listOf } from './lists.ts';

const scopesOf = (given: readonly string[]): readonly KeyScope[] =>
  given.includes('all') ? keyScopes : keyScopes.filter((scope) => given.includes(scope));

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  return expiresAt === null ? '' : `expires ${expiresAt}`;
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

/** Commands that manage API keys of partners. */
export const keyCommands: Commands = {
  'keys issue': {
    about: 'issue an API key; it and its signing secret are shown this once',
    example: 'kafe --mode live --scope payments:write --allow 203.0.113.0/24',
    flags: {
      mode: value('live or test', { required: true, oneOf: ['live', 'test'] }),
      scope: values('what the key may do', { required: true, oneOf: [...keyScopes, 'all'] }),
      name: value('name to distinguish keys'),
      allow: values('an address or CIDR range from which the key may be used (everywhere)'),
      'require-signature': toggle('refuse requests with a body that are not signed'),
      expires: value('expiry, such as 2030-01-31T00:00:00Z (never)', { is: 'time' }),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const [partner = ''] = args.positionals;
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
    example: 'kafe',
    positionals: ['partner'],
    async run({ admin }, { positionals: [slug = ''] }) {
      if ((await admin.partners.get(slug)) === null) throw new PartnerNameError('partner_not_found', slug);
      const apiKeys = await admin.apiKeys.list(slug);
      const rows = apiKeys.map((key) => [
        ...[key.id, key.mode, key.name, key.scopes.join(' '), key.lastUsedAt ?? 'never', stateOf(key)],
      ]);
      return { text: listOf(['KEY ID', 'MODE', 'NAME', 'SCOPES', 'LAST USED', ''], rows), json: { apiKeys } };
    },
  },

  'keys roll': {
    about: 'issue a successor; the old key works for the overlap',
    example: 'key_5b1f0c9e7d3a4826 --overlap 3600',
    flags: {
      overlap: value('seconds for which the old key keeps working', { is: 'whole number', default: '86400' }),
    },
    positionals: ['key id'],
    question: (args) =>
      args.integer('overlap') === 0
        ? `Roll ${args.positionals[0]} without overlap? The old key stops working at once.`
        : null,
    async run({ admin }, args) {
      const [id = ''] = args.positionals;
      const overlapSeconds = args.integer('overlap') ?? 0;
      const issued = await admin.apiKeys.roll(id, { overlapSeconds });
      const old = overlapSeconds === 0 ? 'no longer works' : `works for another ${overlapSeconds} s`;
      return shownOnce(issued, `${kept} The old key ${old}.`);
    },
  },

  'keys revoke': {
    about: 'refuse a key from the next request on, in every process',
    example: 'key_5b1f0c9e7d3a4826',
    positionals: ['key id'],
    question: ({ positionals: [id] }) =>
      `Revoke ${id}? Requests with it are refused, and it cannot be restored.`,
    async run({ admin }, { positionals: [id = ''] }) {
      await admin.apiKeys.revoke(id);
      return { text: `Revoked ${id}.`, json: { revoked: id } };
    },
  },
};
