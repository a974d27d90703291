import type { HostTables } from '@ostiary/adapter-postgres/move';

/** The tables of this server: `app_users` in the SQLite file, `app.users` on PostgreSQL, each after those it refers to. */
export const serverTables: HostTables = {
  schema: 'app',
  tables: [
    {
      name: 'users',
      source: 'app_users',
      columns: {
        sub: 'text',
        kid: 'text',
        handle: 'text',
        phone: 'text',
        name: 'text',
        avatar_url: 'text',
        role: 'text',
        country: 'text',
        kyc_tier: 'integer',
        kyc_status: 'text',
        trust_score: 'integer',
        trust_tier: 'text',
        password_hash: 'text',
        created_at: 'integer',
        blocked_at: 'integer',
      },
      key: ['sub'],
    },
    {
      name: 'credentials',
      source: 'app_credentials',
      columns: { id: 'text', sub: 'text', type: 'text', issued_at: 'integer', expires_at: 'integer' },
      key: ['id'],
    },
    {
      name: 'sessions',
      source: 'app_sessions',
      columns: {
        digest: 'bytes',
        sub: 'text',
        authenticated_at: 'integer',
        seen_at: 'integer',
        ends_at: 'integer',
      },
      key: ['digest'],
    },
    {
      name: 'throttle',
      source: 'app_throttle',
      columns: { subject: 'bytes', failures: 'integer', ends_at: 'integer' },
      key: ['subject'],
    },
    {
      name: 'accounts',
      source: 'app_accounts',
      columns: { id: 'integer', kind: 'text', owner: 'text', currency: 'text', balance: 'integer' },
      key: ['id'],
      identity: 'id',
    },
    {
      name: 'movements',
      source: 'app_movements',
      columns: { id: 'text', kind: 'text', currency: 'text', posted_at: 'integer' },
      key: ['id'],
    },
    {
      name: 'postings',
      source: 'app_postings',
      columns: { movement_id: 'text', account_id: 'integer', amount: 'integer' },
      key: ['movement_id', 'account_id'],
    },
    {
      name: 'executions',
      source: 'app_executions',
      columns: { transfer_id: 'text', failure: 'text', decided_at: 'integer' },
      key: ['transfer_id'],
    },
  ],
};
