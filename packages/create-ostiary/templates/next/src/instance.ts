import type { Ostiary } from '@ostiary/core';
import { openOstiary, options } from './ostiary.ts';

const kept = globalThis as { instance?: Promise<Ostiary>; options?: typeof options };
// `next dev` loads these modules again after an edit. Keep the latest options, so that Ostiary uses the
// edited functions.
kept.options = options;
const latest = (): typeof options => kept.options ?? options;

const open = (): Promise<Ostiary> =>
  openOstiary({
    ...options,
    users: { find: (sub) => latest().users.find(sub) },
    login: {
      authenticate: (request) => latest().login.authenticate(request),
      loginUrl: (returnTo) => latest().login.loginUrl(returnTo),
      signOut: (request, response) => latest().login.signOut(request, response),
    },
  });

/**
 * Opens Ostiary at the first call, which `instrumentation.ts` makes when the server starts. Next.js gives each
 * route a copy of these modules, and all copies share one Ostiary for the life of the process. Loading a module
 * opens nothing, because Next.js also loads routes during the build, when there is no database.
 */
export function instance(): Promise<Ostiary> {
  kept.instance ??= open();
  return kept.instance;
}

/** Makes the routes use the Ostiary instance of a test. */
export function replaceInstance(ostiary: Ostiary): void {
  kept.instance = Promise.resolve(ostiary);
}
