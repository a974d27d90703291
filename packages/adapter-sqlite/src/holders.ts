import type { Connection } from './connection.ts';

type Holding = { readonly sub: string; readonly scope: string };

/**
 * Creates the query for enabled partners of which an enabled client has an unrevoked consent of a user with a
 * scope. It runs on connections of the storage and of the host application.
 */
export function holdersOn(connection: Connection): (request: Holding) => string[] {
  // The quotes are explained at `matchingEndpoints` in publications.ts.
  const partnersHolding = connection
    .prepare<[Holding], string>(`
    SELECT DISTINCT slug FROM consents
    JOIN clients USING (client_id)
    JOIN partners ON slug = partner
    WHERE sub = :sub AND revoked_at IS NULL
      AND clients.disabled_at IS NULL AND partners.disabled_at IS NULL
      AND instr(scopes, json_quote(:scope)) > 0
    ORDER BY slug
  `)
    .pluck();
  return (request) => partnersHolding.all(request);
}
