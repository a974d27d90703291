import type { Database } from './database.ts';
import { type Connection, prepared } from './statement.ts';

/** Who may hear about a user, on a connection of ours or of the host's. */
export interface Holders {
  /** Slugs of partners whose clients hold an unrevoked consent of the user with this scope. */
  partnersHolding(
    connection: Connection,
    request: { readonly sub: string; readonly scope: string },
  ): Promise<string[]>;
}

export function postgresHolders({ schema }: Pick<Database, 'schema'>): Holders {
  const partnersHolding = prepared<{ sub: string; scope: string }, { readonly slug: string }>(`
    SELECT DISTINCT slug FROM ${schema}.consents
    JOIN ${schema}.clients USING (client_id)
    JOIN ${schema}.partners ON slug = partner
    WHERE sub = :sub AND revoked_at IS NULL AND :scope = ANY (scopes)
      AND clients.disabled_at IS NULL AND partners.disabled_at IS NULL
    ORDER BY slug
  `);

  return {
    async partnersHolding(connection, { sub, scope }) {
      return (await partnersHolding.all(connection, { sub, scope })).map(({ slug }) => slug);
    },
  };
}
