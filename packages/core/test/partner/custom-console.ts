import { expect } from 'vitest';
import type { ConsoleBackend, ConsoleInput, ConsoleVisit, PartnerConsole } from '../../src/console.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';

/**
 * Starts a custom console, which signs in the partner whose key is posted, runs the given calls, and shows
 * their results.
 */
export async function customConsole(
  opensWith: PartnerConsole['opensWith'],
  options: Parameters<typeof partnerProvider>[0] = {},
) {
  let backend: ConsoleBackend | undefined;
  let next: (visit: ConsoleVisit) => Promise<unknown> = async () => null;
  const partnerConsole: PartnerConsole = {
    opensWith,
    pages(given) {
      backend = given;
      return [
        {
          path: '/desk',
          summary: 'A page.',
          async GET(request) {
            const visit = await given.visit(request.query.get('session') ?? '', request);
            if (visit === null) return { status: 401, body: 'stranger' };
            return { status: 200, body: JSON.stringify(await next(visit)) };
          },
          async POST(request) {
            const form = await given.form(request, 'stranger');
            const { session } = await given.signIn(form.get('key') ?? '', request);
            return { status: 200, body: session, headers: { 'x-of-its-own': 'yes' } };
          },
        },
      ];
    },
  };
  const { provider, database } = await partnerProvider({ console: partnerConsole, ...options });
  return {
    provider,
    database,
    async open({ key }: TestKey) {
      const body = new URLSearchParams({ key, csrf: backend?.proof('stranger') ?? '' });
      const answer = await fetch(`${provider.origin}/desk`, { method: 'POST', body });
      expect([answer.status, answer.headers.get('x-of-its-own')]).toEqual([200, 'yes']);
      const session = await answer.text();
      return (operation: string, input?: ConsoleInput) => {
        next = (visit) => visit.call(operation, input);
        return fetch(`${provider.origin}/desk?session=${session}`);
      };
    },
  };
}
