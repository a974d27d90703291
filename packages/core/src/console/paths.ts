import { type Core, urlBelow } from '../context.ts';

/** Paths below `authUrl`. */
export const consolePaths = {
  home: '/sandbox',
  signIn: '/sandbox/sign-in',
  signOut: '/sandbox/sign-out',
  trigger: '/sandbox/trigger',
  event: '/sandbox/events/:id',
  redeliver: '/sandbox/events/:id/redeliver',
  endpoints: '/sandbox/endpoints',
  endpoint: '/sandbox/endpoints/:id',
} as const;

/** The absolute address of a page or an action. Ids go into the path, everything else into the query. */
export function consoleUrl(
  core: Core,
  name: keyof typeof consolePaths,
  { id = '', ...query }: { readonly id?: string; readonly [parameter: string]: string | undefined } = {},
): string {
  const url = new URL(
    urlBelow(core.options.authUrl, consolePaths[name].replace(':id', encodeURIComponent(id))),
  );
  for (const [parameter, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(parameter, value);
  }
  return url.href;
}
