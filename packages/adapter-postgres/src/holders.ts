import type { Database } from './database.ts';
import { type Connection, prepared } from './statement.ts';

type Holding = { readonly sub: string; readonly scope: string };

/**
 * Creates the query for enabled partners of which an enabled client has an unrevoked consent of a user with a
 * scope. It runs on connections of the storage and of the host application.
 */
export function postgresHolders({ schema }: Pick<Database, 'schema'>) {
  const partnersHolding = prepared<Holding, { readonly slug: string }>(`
    SELECT DISTINCT slug FROM ${schema}.consents
    JOIN ${schema}.clients USING (client_id)
    JOIN ${schema}.partners ON slug = partner
    WHERE sub = :sub AND revoked_at IS NULL AND :scope = ANY (scopes)
      AND clients.disabled_at IS NULL AND partners.disabled_at IS NULL
    ORDER BY slug
  `);

  return async (connection: Connection, request: Holding): Promise<string[]> =>
    (await partnersHolding.all(connection, request)).map(({ slug }) => slug);
}
