import type { ConsoleBackend } from '@ostiary/core/console';

/** Paths of the console's pages and actions below `authUrl`. */
export const paths = {
  home: '/sandbox',
  signIn: '/sandbox/sign-in',
  signOut: '/sandbox/sign-out',
  trigger: '/sandbox/trigger',
  event: '/sandbox/events/:id',
  redeliver: '/sandbox/events/:id/redeliver',
  answer: '/sandbox/deliveries/:id/answer',
  endpoints: '/sandbox/endpoints',
  endpoint: '/sandbox/endpoints/:id',
  inboxes: '/sandbox/inboxes',
  inbox: '/sandbox/endpoints/:id/inbox',
  inboxRequest: '/sandbox/inbox/:id',
  search: '/sandbox/search',
  requests: '/sandbox/requests',
  request: '/sandbox/requests/:id',
  script: '/sandbox/live.js',
  style: '/sandbox/style.css',
  editEndpoint: '/sandbox/endpoints/:id/edit',
  secret: '/sandbox/endpoints/:id/secret',
  receiver: '/sandbox/endpoints/:id/receiver',
  button: '/sandbox/button',
  buttonFile: '/sandbox/button.svg',
  tools: '/sandbox/tools',
  passportTool: '/sandbox/tools/passport',
  paymentTool: '/sandbox/tools/payment',
  kycTool: '/sandbox/tools/kyc',
  signatureTool: '/sandbox/tools/signature',
  payment: '/sandbox/payments/:id',
  firstRun: '/sandbox/first-run',
} as const;

/**
 * Function that returns the absolute URL of a page or action. `id` goes into the path, all other parameters
 * into the query.
 */
export type UrlOf = (
  name: keyof typeof paths,
  parameters?: { readonly id?: string; readonly [parameter: string]: string | null | undefined },
) => string;

/**
 * Makes the function of {@link UrlOf}. Query parameters that are `null`, `undefined` or empty are omitted.
 */
export function urlsOf(backend: Pick<ConsoleBackend, 'url'>): UrlOf {
  return (name, { id = '', ...query } = {}) => {
    const url = new URL(backend.url(paths[name].replace(':id', encodeURIComponent(id))));
    for (const [parameter, value] of Object.entries(query)) {
      if (value) url.searchParams.set(parameter, value);
    }
    return url.href;
  };
}
