import type { Connection } from './connection.ts';

type Holding = { readonly sub: string; readonly scope: string };

/** Slugs of partners whose clients hold an unrevoked consent of the user with this scope; on our connection or the host's. */
export function holdersOn(connection: Connection): (request: Holding) => string[] {
  // For the quotes, see `matchingEndpoints` in publications.ts.
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
