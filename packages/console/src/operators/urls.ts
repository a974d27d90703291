import type { OperatorBackend } from '@ostiary/core/console';

type Query = { readonly [parameter: string]: string | null | undefined };

/** Functions that return the absolute URLs of pages and actions. */
export type OperatorUrls = ReturnType<typeof operatorUrls>;

/**
 * Makes the functions of {@link OperatorUrls}. Query parameters that are `null`, `undefined` or empty are
 * omitted. URLs on a page with test data lead to pages with test data, unless they name a mode.
 */
export function operatorUrls({ url }: Pick<OperatorBackend, 'url'>, mode: 'live' | 'test') {
  const at = (path: string, query: Query): string => {
    const address = new URL(url(path));
    const kept = mode === 'test' ? { mode, ...query } : query;
    for (const [name, value] of Object.entries(kept)) if (value) address.searchParams.set(name, value);
    return address.href;
  };
  const of = encodeURIComponent;
  return {
    overview: (query: Query = {}) => at('', query),
    partners: (query: Query = {}) => at('/partners', query),
    partner: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}`, query),
    allKeys: (query: Query = {}) => at('/keys', query),
    keys: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}/keys`, query),
    key: (slug: string, id: string, query: Query = {}) => at(`/partners/${of(slug)}/keys/${of(id)}`, query),
    webhooks: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}/webhooks`, query),
    endpoint: (slug: string, id: string, query: Query = {}) =>
      at(`/partners/${of(slug)}/webhooks/${of(id)}`, query),
    request: (slug: string, id: string, query: Query = {}) =>
      at(`/partners/${of(slug)}/requests/${of(id)}`, query),
    failing: (query: Query = {}) => at('/failing', query),
    endpoints: (query: Query = {}) => at('/endpoints', query),
    events: (query: Query = {}) => at('/events', query),
    requests: (query: Query = {}) => at('/requests', query),
    allPayments: (query: Query = {}) => at('/payments', query),
    search: (query: Query = {}) => at('/search', query),
    payments: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}/payments`, query),
    payment: (slug: string, id: string, query: Query = {}) =>
      at(`/partners/${of(slug)}/payments/${of(id)}`, query),
    reconciliation: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}/reconciliation`, query),
    paymentFile: (slug: string, query: Query = {}) => at(`/partners/${of(slug)}/payment-file`, query),
    clients: (query: Query = {}) => at('/clients', query),
    newClient: (query: Query = {}) => at('/new-client', query),
    client: (id: string, query: Query = {}) => at(`/clients/${of(id)}`, query),
    users: (query: Query = {}) => at('/users', query),
    user: (sub: string, query: Query = {}) => at('/user', { sub, ...query }),
    staff: (query: Query = {}) => at('/staff', query),
    staffMember: (id: string, query: Query = {}) => at(`/staff/${of(id)}`, query),
    audit: (query: Query = {}) => at('/audit', query),
    signingKeys: (query: Query = {}) => at('/signing-keys', query),
    upkeep: (query: Query = {}) => at('/upkeep', query),
  };
}
