import type { Administration } from '@ostiary/core/admin';
import type { OperatorBackend, OperatorPage, OperatorPages, OperatorVisit } from '@ostiary/core/console';
import { answerAsset } from '../assets.ts';
import { pageScript } from '../live.ts';
import { consoleStyle } from '../style.ts';
import { audit, verifyAudit } from './audit.ts';
import { changeClient, client } from './client.ts';
import { clients, createClient, newClient } from './clients.ts';
import { everyPayment } from './every-payment.ts';
import { everyEndpoint, everyEvent, everyRequest, failingEndpoints } from './everywhere.ts';
import type { HostAct } from './host-acts.ts';
import type { OperatorStaff } from './host-staff.ts';
import type { OperatorUsers } from './host-users.ts';
import { allKeys, changeKey, issueKey, key, keys } from './keys.ts';
import { operatorRequest } from './objects.ts';
import { overview } from './overview.ts';
import { changePartner, createPartner, partner, partners } from './partners.ts';
import { payment, paymentFile, payments, reconciliation } from './payments.ts';
import { search } from './search.ts';
import { rotateSigningKey, signingKeys } from './signing-keys.ts';
import { changeStaff, inviteStaff, staff, staffMember } from './staff.ts';
import { doUpkeep, upkeep } from './upkeep.ts';
import { changeUser, user, users } from './users.ts';
import { contextOf, type Do, type Show } from './visit.ts';
import { changeEndpointOf, operatorEndpoint, redeliver, webhooks } from './webhooks.ts';

/**
 * Right that the form of a page needs, whether the page is hidden from operators without it, and whether the form needs
 * a recent sign-in; see `OperatorPage`.
 */
type Access = Pick<OperatorPage<Administration>, 'right' | 'isHidden' | 'isConfirmed'>;

/** A route of the operators' pages. */
type Row = readonly [path: string, summary: string, show: Show, act?: Do | undefined, access?: Access];

/**
 * Access to pages that name the users who were paid: hidden from operators without the right `payments`. The
 * page with the reconciliation of a day shows sums only, so every operator may see it.
 */
const seesPayments: Access = { right: 'payments', isHidden: true };

/** Routes of the operators' pages. Every operator may see a page without `isHidden`. */
const table: readonly Row[] = [
  [
    '',
    'Health of the service: waiting work, failed work, and the sealing keys that are still needed.',
    overview,
  ],
  ['/partners', 'Partners; creates one.', partners, createPartner, { right: 'partners' }],
  [
    '/partners/:slug',
    'A partner; renames, disables or enables it.',
    partner,
    changePartner,
    { right: 'partners', isConfirmed: true },
  ],
  [
    '/partners/:slug/keys',
    'The API keys of a partner; issues one.',
    keys,
    issueKey,
    { right: 'keys', isConfirmed: true },
  ],
  [
    '/partners/:slug/keys/:id',
    'An API key; rolls or revokes it.',
    key,
    changeKey,
    { right: 'keys', isConfirmed: true },
  ],
  [
    '/partners/:slug/webhooks',
    'Endpoints and deliveries; delivers an event again.',
    webhooks,
    redeliver,
    { right: 'webhooks' },
  ],
  ['/partners/:slug/requests/:id', 'A request to the partner API.', operatorRequest],
  ['/keys', 'The API keys of all partners.', allKeys],
  [
    '/partners/:slug/webhooks/:id',
    'An endpoint; enables, disables, removes or recovers it.',
    operatorEndpoint,
    changeEndpointOf,
    { right: 'webhooks', isConfirmed: true },
  ],
  ['/partners/:slug/payments', 'The transfers of a partner, filtered.', payments, undefined, seesPayments],
  ['/partners/:slug/payments/:id', 'A transfer and its event.', payment, undefined, seesPayments],
  [
    '/partners/:slug/reconciliation',
    'The final transfers of a day: sums, checksum, and files.',
    reconciliation,
  ],
  [
    '/partners/:slug/payment-file',
    'A file of final transfers, for programs or for spreadsheets.',
    paymentFile,
    undefined,
    seesPayments,
  ],
  ['/failing', 'The endpoints of all partners that fail now.', failingEndpoints],
  ['/endpoints', 'The endpoints of all partners, filtered.', everyEndpoint],
  ['/events', 'The events of all partners, filtered.', everyEvent],
  ['/requests', 'The logged API requests of all partners, filtered.', everyRequest],
  ['/payments', 'The transfers of all partners, filtered.', everyPayment, undefined, seesPayments],
  ['/clients', 'OAuth clients.', clients],
  [
    '/new-client',
    'Creates a client.',
    newClient,
    createClient,
    { right: 'clients', isHidden: true, isConfirmed: true },
  ],
  [
    '/clients/:id',
    'A client; changes its settings or its secret, disables or enables it.',
    client,
    changeClient,
    { right: 'clients', isConfirmed: true },
  ],
  [
    '/search',
    'Finds partners, clients, keys, endpoints, events, deliveries, requests and transfers.',
    search,
  ],
  ['/audit', 'The audit log of administrators; checks its chain.', audit, verifyAudit],
  [
    '/signing-keys',
    'The keys that sign ID tokens; rotates them.',
    signingKeys,
    rotateSigningKey,
    { right: 'service', isConfirmed: true },
  ],
  ['/users', 'Users; finds them.', users, undefined, { right: 'users', isHidden: true }],
  [
    '/user',
    'A user with the connected apps; ends access or sessions, blocks, changes the identity check.',
    user,
    changeUser,
    { right: 'users', isHidden: true, isConfirmed: true },
  ],
  [
    '/upkeep',
    'Removes old rows, seals all secrets again.',
    upkeep,
    doUpkeep,
    { right: 'service', isHidden: true, isConfirmed: true },
  ],
];

/** Routes of the operators' pages that manage the host application's staff. */
const staffTable: readonly Row[] = [
  [
    '/staff',
    'People who may open these pages; invites one.',
    staff,
    inviteStaff,
    { right: 'service', isHidden: true, isConfirmed: true },
  ],
  [
    '/staff/:id',
    'A person who may open these pages; changes the role, ends sessions or access.',
    staffMember,
    changeStaff,
    { right: 'service', isHidden: true, isConfirmed: true },
  ],
];

/**
 * Makes the pages at `{authUrl}/operators` for the people who run the service. What an operator changes has
 * the same audit log entry as the same change on the command line. The host application decides who may open
 * the pages, and what each operator may change.
 *
 * @param options - `users`: the users of the host, to be searched, blocked and signed out on these pages.
 * Without them, operators open a user by id, see the connected apps, and can end their access. `accountUrl`: path on
 * `authUrl` of your page where an operator signs out, to which the name of the operator links.
 * `staff`: functions that manage the people who may open these pages, which then have pages for that.
 * `acts`: words for the acts that you write into the audit log, by their names.
 * @example
 * ```ts
 * const ostiary = await createOstiary({
 *   ...options,
 *   operators: { authenticate: (request) => staffOf(request), pages: operatorsConsole() },
 * });
 * ```
 */
export function operatorsConsole({
  users: host = null,
  accountUrl = null,
  acts = {},
  staff: hostStaff = null,
}: {
  readonly users?: OperatorUsers | null;
  readonly accountUrl?: string | null;
  readonly acts?: { readonly [action: string]: HostAct };
  readonly staff?: OperatorStaff | null;
} = {}): OperatorPages<Administration> {
  const hostActs = new Map(Object.entries(acts));
  function pages(backend: OperatorBackend): OperatorPage<Administration>[] {
    const [script, style] = [pageScript(), consoleStyle(backend.theme)];
    const assetUrls = {
      script: backend.url(`/script.js?v=${script.version}`),
      style: backend.url(`/style.css?v=${style.version}`),
    };
    const rows = hostStaff === null ? table : [...table, ...staffTable];
    const shown = rows.map(([path, summary, show, act, access = {}]): OperatorPage<Administration> => {
      const context = (visit: OperatorVisit<Administration>) =>
        contextOf(
          { backend, users: host, accountUrl, acts: hostActs, staff: hostStaff, ...assetUrls },
          visit,
          access.right,
        );
      return {
        ...{ path, summary, ...access },
        GET: async (visit) => show(await context(visit)),
        ...(act !== undefined && {
          POST: async (visit, form, files) => act(await context(visit), form, files),
        }),
      };
    });
    return [
      ...shown,
      {
        path: '/script.js',
        summary: 'The script of the pages.',
        GET: async () => answerAsset(script, 'private'),
      },
      {
        path: '/style.css',
        summary: 'The style sheet of the pages.',
        GET: async () => answerAsset(style, 'private'),
      },
    ];
  }
  return { pages };
}
