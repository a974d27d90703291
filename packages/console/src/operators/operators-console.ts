import type { Administration } from '@ostiary/core/admin';
import type { OperatorBackend, OperatorPage, OperatorPages } from '@ostiary/core/console';
import { audit, verifyAudit } from './audit.ts';
import { changeClient, client } from './client.ts';
import { clients, createClient, newClient } from './clients.ts';
import { changeKey, issueKey, key, keys } from './keys.ts';
import { overview } from './overview.ts';
import { changePartner, createPartner, partner, partners } from './partners.ts';
import { rotateSigningKey, signingKeys } from './signing-keys.ts';
import { doUpkeep, upkeep } from './upkeep.ts';
import { contextOf, type Do, type Show } from './visit.ts';
import { changeEndpointOf, operatorEndpoint, redeliver, webhooks } from './webhooks.ts';

/** Routes of the operators' pages. */
const table: readonly (readonly [path: string, summary: string, show: Show, act?: Do])[] = [
  [
    '',
    'Health of the service: waiting work, failed work, and the sealing keys that are still needed.',
    overview,
  ],
  ['/partners', 'Partners; creates one.', partners, createPartner],
  ['/partners/:slug', 'A partner; renames, disables or enables it.', partner, changePartner],
  ['/partners/:slug/keys', 'The API keys of a partner; issues one.', keys, issueKey],
  ['/partners/:slug/keys/:id', 'An API key; rolls or revokes it.', key, changeKey],
  ['/partners/:slug/webhooks', 'Endpoints and deliveries; delivers an event again.', webhooks, redeliver],
  [
    '/partners/:slug/webhooks/:id',
    'An endpoint; enables, disables, removes or recovers it.',
    operatorEndpoint,
    changeEndpointOf,
  ],
  ['/clients', 'OAuth clients.', clients],
  ['/new-client', 'Creates a client.', newClient, createClient],
  [
    '/clients/:id',
    'A client; changes its settings or its secret, disables or enables it.',
    client,
    changeClient,
  ],
  ['/audit', 'The audit log of administrators; checks its chain.', audit, verifyAudit],
  ['/signing-keys', 'The keys that sign ID tokens; rotates them.', signingKeys, rotateSigningKey],
  ['/upkeep', 'Ends all access to a user, removes old rows, seals all secrets again.', upkeep, doUpkeep],
];

const pagesOf = (backend: OperatorBackend): OperatorPage<Administration>[] =>
  table.map(([path, summary, show, act]) => ({
    path,
    summary,
    GET: async (visit) => show(await contextOf(backend, visit)),
    ...(act !== undefined && {
      POST: async (visit, form, files) => act(await contextOf(backend, visit), form, files),
    }),
  }));

/**
 * Makes the pages at `{authUrl}/operators` for the people who run the service. They do what the command line
 * does, with the same audit log entries. The host decides who may open them.
 *
 * @example
 * ```ts
 * const ostiary = await createOstiary({
 *   ...options,
 *   operators: { authenticate: (request) => staffOf(request), pages: operatorsConsole() },
 * });
 * ```
 */
export function operatorsConsole(): OperatorPages<Administration> {
  return { pages: pagesOf };
}
