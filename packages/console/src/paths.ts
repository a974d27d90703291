import type { ConsoleBackend } from '@ostiary/core/console';

/** Paths of pages and forms, relative to the first page of the console or of the portal for live data. */
const paths = {
  home: '',
  signIn: '/sign-in',
  signOut: '/sign-out',
  trigger: '/trigger',
  event: '/events/:id',
  redeliver: '/events/:id/redeliver',
  answer: '/deliveries/:id/answer',
  endpoints: '/endpoints',
  endpoint: '/endpoints/:id',
  inboxes: '/inboxes',
  inbox: '/endpoints/:id/inbox',
  inboxRequest: '/inbox/:id',
  search: '/search',
  requests: '/requests',
  request: '/requests/:id',
  script: '/live.js',
  style: '/style.css',
  editEndpoint: '/endpoints/:id/edit',
  secret: '/endpoints/:id/secret',
  receiver: '/endpoints/:id/receiver',
  button: '/button',
  buttonFile: '/button.svg',
  tools: '/tools',
  passportTool: '/tools/passport',
  paymentTool: '/tools/payment',
  kycTool: '/tools/kyc',
  signatureTool: '/tools/signature',
  payments: '/payments',
  payment: '/payments/:id',
  reconciliation: '/reconciliation',
  paymentFile: '/payment-file',
  firstRun: '/first-run',
  link: '/open/:link',
} as const;

/** Name of a page or form of the console. */
export type PageName = keyof typeof paths;

/**
 * Paths below `authUrl` of the first pages: of the console with test data, and of the portal with live data.
 */
export const roots = { test: '/sandbox', live: '/portal' } as const;

/** Returns the path of a page or form below `authUrl`, in the router's notation. */
export const pathOf = (mode: keyof typeof roots, name: PageName): string => roots[mode] + paths[name];

/**
 * Function that returns the absolute URL of a page or action. `id` goes into the path, all other parameters
 * into the query.
 */
export type UrlOf = (
  name: PageName,
  parameters?: { readonly id?: string; readonly [parameter: string]: string | null | undefined },
) => string;

/**
 * Makes the function of {@link UrlOf}. Query parameters that are `null`, `undefined` or empty are omitted.
 */
export function urlsOf(backend: Pick<ConsoleBackend, 'url'>, mode: keyof typeof roots): UrlOf {
  return (name, { id = '', ...query } = {}) => {
    const path = pathOf(mode, name).replace(/:(?:id|link)/, encodeURIComponent(id));
    const url = new URL(backend.url(path));
    for (const [parameter, value] of Object.entries(query)) {
      if (value) url.searchParams.set(parameter, value);
    }
    return url.href;
  };
}
