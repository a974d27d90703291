import { expect, it } from 'vitest';
import type { ConsoleDesk, ConsoleInput, ConsoleVisit, PartnerConsole } from '../../src/console.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';

/** A console of one's own: it signs in who posts a key, calls what it is told, and shows what comes of it. */
async function ownConsole(opensWith: PartnerConsole['opensWith']) {
  let desk: ConsoleDesk | undefined;
  let next: (visit: ConsoleVisit) => Promise<unknown> = async () => null;
  const partnerConsole: PartnerConsole = {
    opensWith,
    pages(given) {
      desk = given;
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
  const { provider } = await partnerProvider({ console: partnerConsole });
  return {
    provider,
    async open({ key }: TestKey) {
      const body = new URLSearchParams({ key, csrf: desk?.proof('stranger') ?? '' });
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

it('a console of one’s own calls operations of the partner API as a key that opens it may', async () => {
  const { provider, open } = await ownConsole({ scope: null, testOnly: false });
  const key = await provider.key({ mode: 'live', scopes: ['payments:read', 'payments:write'] });
  const call = await open(key);
  const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } });
  const shown = async (...given: Parameters<typeof call>) => (await call(...given)).json();
  const made = await shown('createPayment', { body });
  expect(made).toMatchObject({ amount: '1.00', mode: 'live', status: 'pending' });
  expect(await shown('listPayments', { query: { limit: '1' } })).toEqual({ data: [made], nextCursor: null });
  expect(await shown('getPayment', { path: { id: made.id } })).toEqual(made);
  // Errors of the API are pages; callers that are no browser read them as JSON.
  const problems = [
    ['listWebhooks', {}, 403, 'lacks the scope webhooks'],
    ['getRequest', { path: { id: 'req_1' } }, 403, 'lacks the scope webhooks'],
    ['listRequests', {}, 403, 'lacks the scope webhooks'],
    ['createSandboxPassport', {}, 404, 'belongs to the sandbox'],
    ['getPayment', { path: { id: 'nonsense' } }, 404, 'no such resource'],
    ['listPayments', { query: { nonsense: '1' } }, 400, 'nonsense'],
    ['createPayment', { body: '{' }, 400, 'not valid JSON'],
    ['no such operation', {}, 500, 'unexpected'],
  ] as const;
  for (const [operation, input, status, words] of problems) {
    const answer = await call(operation, input);
    expect.soft([operation, answer.status]).toEqual([operation, status]);
    expect.soft(await answer.text()).toContain(words);
  }
});

it('a list of requests leaves the bodies out, a request has them', async () => {
  const { provider, open } = await ownConsole({ scope: 'webhooks', testOnly: true });
  const key = await provider.key({ mode: 'test' });
  const call = await open(key);
  await provider.partnerCall(key, 'POST /v1/partner/payments', { amount: 'x' });
  const listed = async () => (await (await call('listRequests')).json()).data;
  await expect.poll(listed).toMatchObject([{ code: 'invalid_request', sent: null, answered: null }]);
  const [{ id }] = await listed();
  const found = await (await call('getRequest', { path: { id } })).json();
  expect(found).toMatchObject({ id, sent: '{"amount":"[removed]"}', answered: expect.any(String) });
});
