import { type ApiKey, type IssuedApiKey, type KeyScope, keyScopes } from '@ostiary/core';
import { type Command, type Output, table, text, UsageError } from './command.ts';

function scopesOf(given: readonly string[]): KeyScope[] {
  if (given.length === 0) throw new UsageError('--scope is missing');
  if (given.includes('all')) return [...keyScopes];
  return given.map((name) => {
    const scope = keyScopes.find((candidate) => candidate === name);
    if (scope === undefined) throw new UsageError(`--scope must be all, or of ${keyScopes.join(', ')}`);
    return scope;
  });
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return '';
  return `${Date.parse(expiresAt) <= Date.now() ? 'ended' : 'ends'} ${expiresAt}`;
}

function shownOnce({ apiKey, key, signingSecret }: IssuedApiKey, note: string): Output {
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
  return { text: `${table(rows)}\n\n${note}`, json: { apiKey, key, signingSecret } };
}

/** `npm run partner -- key-issue` */
export const issue: Command = {
  flags: {
    mode: text,
    scope: { type: 'string', multiple: true },
    name: text,
    allow: { type: 'string', multiple: true },
    'require-signature': { type: 'boolean' },
    expires: text,
  },
  positionals: ['slug'],
  async run({ ostiary }, args) {
    const [partner = ''] = args.positionals;
    args.required('mode');
    const mode = args.oneOf('mode', ['live', 'test']);
    if (mode === undefined) throw new UsageError('--mode is missing');
    const scopes = scopesOf(args.list('scope'));
    const [name, expires, allowlist] = [args.text('name'), args.text('expires'), args.list('allow')];
    const expiresAt = expires === undefined ? undefined : new Date(expires);
    if (expiresAt !== undefined && Number.isNaN(expiresAt.getTime())) {
      throw new UsageError('--expires must be a time such as 2030-01-31T00:00:00Z');
    }
    const issued = await ostiary.admin.apiKeys.issue({
      partner,
      mode,
      scopes,
      ...(name !== undefined && { name }),
      ...(allowlist.length > 0 && { allowlist }),
      ...(args.has('require-signature') && { requireSignature: true }),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    return shownOnce(issued, 'Keep the key and the signing secret now: they are not shown again.');
  },
};

/** `npm run partner -- key-list` */
export const listKeys: Command = {
  flags: {},
  positionals: ['slug'],
  async run({ ostiary }, { positionals: [slug = ''] }) {
    if ((await ostiary.admin.partners.get(slug)) === null)
      throw new UsageError(`there is no partner ${slug}`);
    const apiKeys = await ostiary.admin.apiKeys.list(slug);
    const rows = apiKeys.map((key) => [
      ...[key.id, key.mode, key.name, key.scopes.join(' '), key.lastUsedAt ?? 'never', stateOf(key)],
    ]);
    return {
      text: table([['KEY ID', 'MODE', 'NAME', 'SCOPES', 'LAST USED', ''], ...rows]),
      json: { apiKeys },
    };
  },
};

/** `npm run partner -- key-revoke` */
export const revoke: Command = {
  flags: {},
  positionals: ['key id'],
  async run({ ostiary }, { positionals: [id = ''] }) {
    await ostiary.admin.apiKeys.revoke(id);
    return { text: `Revoked ${id}.`, json: { revoked: id } };
  },
};

/** `npm run partner -- key-roll` */
export const roll: Command = {
  flags: { overlap: text },
  positionals: ['key id'],
  async run({ ostiary }, args) {
    const [id = ''] = args.positionals;
    const overlapSeconds = args.integer('overlap');
    const issued = await ostiary.admin.apiKeys.roll(
      id,
      overlapSeconds === undefined ? {} : { overlapSeconds },
    );
    const left = overlapSeconds ?? 86_400;
    const old = left === 0 ? 'no longer works' : `works for another ${left} s`;
    return shownOnce(
      issued,
      `Keep the key and the signing secret now: they are not shown again. The old key ${old}.`,
    );
  },
};
