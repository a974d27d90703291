import type { FetchHandler, HostScopes, Logger, Ostiary } from '@ostiary/core';
import { silentLogger } from '@ostiary/core';
import type { NewClient } from '@ostiary/core/admin';
import { createFetchHandler } from '@ostiary/core/internal';
import { Timeline } from '../clock.ts';
import { createTestFaults } from '../faults.ts';
import { anyAddress, clockOf, networkOf, originsOf, received, settling, start } from '../parts.ts';
import { Plans } from '../plans.ts';
import { Mail } from '../webhooks.ts';
import { createHostBrowser } from './browser.ts';
import { createFakeApp } from './fake-app.ts';
import type { HostTestOptions, HostTestOstiary, TestServer } from './kit.ts';

/** Converts a server of the host application to a fetch handler of the Web API. */
function fetchOf(server: TestServer): FetchHandler {
  if (typeof server === 'function')
    return createFetchHandler((request, response) => void server(request, response));
  return (async (request: Request) => server.fetch(request)) as FetchHandler;
}

/** Creates a logger that collects errors, to explain a later failure of a test. */
function keptErrors() {
  let errors: string[] = [];
  const error: Logger['error'] = (fields, message) => {
    const { err } = Object(fields);
    errors.push(err instanceof Error ? `${message}: ${err.message}` : String(message));
  };
  return {
    logger: { ...silentLogger, error } satisfies Logger,
    /** Returns the errors that were logged since the last call. */
    errorText(): string {
      const text = errors.length === 0 ? '' : ` (${errors.join('; ')})`;
      errors = [];
      return text;
    },
  };
}

/** Creates a client, by default a public one that may request all scopes of the discovery document. */
async function provision(
  { admin, discoveryScopes }: { admin: Ostiary['admin']; discoveryScopes: readonly string[] },
  settings: Partial<NewClient>,
) {
  const { redirectUris = ['https://app.example/callback'] } = settings;
  const { client, clientSecret } = await admin.clients.create({
    ...{ name: 'Test app', redirectUris, allowedScopes: discoveryScopes, public: true },
    ...settings,
  });
  const { clientId, allowedScopes: scopes } = client;
  return { clientId, clientSecret, redirectUri: redirectUris[0] ?? '', scopes };
}

/** Creates the test kit for developers who embed Ostiary, with their own functions. */
export async function createHostKit<Scopes extends HostScopes>({
  authUrl = 'https://id.ostiary.test',
  now = Date.now(),
  address = '192.0.2.1',
  logger,
  ...rest
}: HostTestOptions<Scopes>): Promise<HostTestOstiary> {
  const { baseUrl = authUrl } = rest;
  const closed = new AbortController();
  const log = keptErrors();
  const settle = settling(closed.signal, () => ({ network, worker: ostiary.worker }));
  const timeline = new Timeline(Number(now), settle);
  const { faults, requests, deliveries } = createTestFaults(new Plans());
  const mail = new Mail(deliveries, () => timeline.now());
  const webhooks = { resolve: async () => [anyAddress], ...rest.webhooks };
  const ostiary = await start(
    { ...rest, authUrl, logger: logger ?? log.logger, webhooks } as Parameters<typeof start>[0],
    timeline,
    mail,
  );
  let server = ostiary.fetch;
  const origins = originsOf(authUrl, baseUrl);
  const network = networkOf(
    ((request: Request, options: object) => server(request, options)) as FetchHandler,
    timeline,
    {
      ...{ origins, faults: requests, closed: closed.signal, answered: () => undefined },
      receive: (request) => received(mail, request),
    },
  );
  const send = network.from(address);
  const browser: HostTestOstiary['browser'] = ({ languages = [] } = {}) =>
    createHostBrowser({ send, authUrl, origins, logged: log.errorText, languages });
  const discoveryUrl = `${authUrl.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const close = async (): Promise<void> => {
    if (closed.signal.aborted) return;
    closed.abort(new Error('the test kit was closed'));
    await ostiary.close();
  };

  return {
    ...{ ostiary, authUrl, baseUrl, browser, faults, settle, close, fetch: send },
    serve: (given) => {
      server = fetchOf(given);
    },
    async app(settings = {}) {
      const metadata = await (await ostiary.fetch(new Request(discoveryUrl))).json();
      const create = (given: Partial<NewClient>) =>
        provision({ admin: ostiary.admin, discoveryScopes: metadata.scopes_supported }, given);
      const at = { discoveryUrl, baseUrl, now: () => timeline.now() };
      return createFakeApp({ settings, create, send, newBrowser: browser, ...at });
    },
    receive: (url, receiver) => mail.receive(url, receiver),
    clock: clockOf(timeline),
    [Symbol.asyncDispose]: close,
  };
}
