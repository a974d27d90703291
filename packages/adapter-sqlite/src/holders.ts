import type { Connection } from './connection.ts';

/** Who may hear about a user, on our connection or on one of the host's. */
export interface Holders {
  /** Slugs of partners whose clients hold an unrevoked consent of the user with this scope. */
  partnersHolding(request: { readonly sub: string; readonly scope: string }): string[];
}

export function holdersOn(connection: Connection): Holders {
  // For the quotes, see `matchingEndpoints` in publications.ts.
  const partnersHolding = connection.prepare<[{ sub: string; scope: string }], { slug: string }>(`
    SELECT DISTINCT slug FROM consents
    JOIN clients USING (client_id)
    JOIN partners ON slug = partner
    WHERE sub = :sub AND revoked_at IS NULL
      AND clients.disabled_at IS NULL AND partners.disabled_at IS NULL
      AND instr(scopes, json_quote(:scope)) > 0
    ORDER BY slug
  `);

  return {
    partnersHolding: ({ sub, scope }) => partnersHolding.all({ sub, scope }).map(({ slug }) => slug),
  };
}
