import { randomBytes } from 'node:crypto';
import type { HostScopes, Ostiary, OstiaryOptions, ScopeNames } from '@ostiary/core';
import { scopeNames, silentLogger } from '@ostiary/core';
import { keyScopes } from '@ostiary/core/admin';
import { createBrowser, type SignInContext, TestLogin } from './browser.ts';
import { Timeline } from './clock.ts';
import { createTestFaults } from './faults.ts';
import { createHostKit } from './host/create-host-kit.ts';
import type { HostTestOptions, HostTestOstiary } from './host/kit.ts';
import { createInbox } from './inbox.ts';
import type { TestKey, TestOstiary, TestOstiaryOptions } from './kit.ts';
import { createOAuth } from './oauth.ts';
import { anyAddress, clockOf, networkOf, originsOf, received, settling, start } from './parts.ts';
import { createTestRail } from './rail.ts';
import { createTestUsers, type UserReference } from './users.ts';
import { Mail } from './webhooks.ts';

/** Signals responses of the service, and the closing of the test kit, to code that waits for them. */
class Activity {
  #waiting: (() => void)[] = [];

  tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /**
   * Waits for the next response of the service, or for the closing of the test kit. Resolves with `false`
   * after `ms` milliseconds of real time without either.
   */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}

function withDefaults({
  authUrl = 'https://id.ostiary.test',
  baseUrl = 'https://api.ostiary.test',
  now = Date.now(),
  address = '192.0.2.1',
  logger = silentLogger,
  retryDelaysSeconds,
  standardHeaders = false,
  ...rest
}: TestOstiaryOptions) {
  const webhooks = {
    resolve: async () => [anyAddress],
    standardHeaders,
    ...(retryDelaysSeconds && { retryDelaysSeconds }),
  };
  return { ...rest, authUrl, baseUrl, now: Number(now), address, logger, webhooks };
}

/**
 * Returns the names of the scopes that the test's options add. Clients that are created without a list of
 * scopes may request them.
 */
const hostScopesOf = (scopes: OstiaryOptions['scopes'] = {}): string[] =>
  Object.entries(scopes).flatMap(([name, scope]) => (scope && name !== 'standardProfile' ? [name] : []));

function firstOf({ list: [first] }: TestOstiary['users']): TestOstiary['user'] {
  if (first === undefined) throw new Error('the kit has no users');
  return first;
}

/**
 * Creates the partner of the test kit and its API keys. Returns them with the functions that create further
 * partners, by default with numbered slugs, and further keys.
 */
async function provision(admin: Ostiary['admin']) {
  let partners = 0;
  const createPartner: TestOstiary['partners']['create'] = (slug) => {
    partners += 1;
    const name = slug ?? `partner-${partners}`;
    return admin.partners.create({ slug: name, name: `The partner ${name}` });
  };
  const { slug: partner } = await createPartner();
  const issue = async (settings: Parameters<TestOstiary['keys']['issue']>[0] = {}): Promise<TestKey> => {
    const issued = await admin.apiKeys.issue({ partner, mode: 'live', scopes: keyScopes, ...settings });
    const { apiKey, key, signingSecret } = issued;
    return { id: apiKey.id, key, signingSecret, partner: apiKey.partner, mode: apiKey.mode };
  };
  const keys = { live: await issue(), test: await issue({ mode: 'test' }), issue };
  return { partner, partners: { create: createPartner }, keys };
}

/**
 * Creates the function that registers webhook endpoints through the partner API, with defaults for missing
 * settings.
 */
function registration(standard: {
  readonly mail: Mail;
  readonly send: (request: Request) => Promise<Response>;
  readonly baseUrl: string;
  readonly secret: string;
  readonly key: TestKey;
}): TestOstiary['webhooks']['register'] {
  const { mail, send, baseUrl } = standard;
  return async (url, settings = {}) => {
    const { events = ['*'], secret = standard.secret, key = standard.key, receiver } = settings;
    if (receiver !== undefined) mail.receive(url, receiver);
    const response = await send(
      new Request(`${baseUrl}/v1/partner/webhooks`, {
        method: 'POST',
        headers: { 'x-api-key': key.key, 'content-type': 'application/json' },
        body: JSON.stringify({ url, events, secret }),
      }),
    );
    const body = (await response.json()) as { readonly id: string; readonly url: string };
    if (response.status !== 201) throw new Error(`${url} was not registered: ${JSON.stringify(body)}`);
    return { id: body.id, url: body.url, secret };
  };
}

/**
 * Starts the real service in the memory of a test: no port, no database server, and no waiting for retries and
 * expiry. Kits are independent, so tests may have one each, or share one.
 *
 * @throws TypeError if an option is invalid
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const headers = { 'x-api-key': kit.keys.live.key, 'content-type': 'application/json' };
 * const { token } = await kit.passports.issue();
 * const body = JSON.stringify({ token });
 * const answer = await kit.fetch(`${kit.baseUrl}/v1/partner/verify`, { method: 'POST', headers, body });
 * await kit.close();
 * ```
 */
export function createTestOstiary<const Scopes extends HostScopes = HostScopes>(
  given: HostTestOptions<Scopes>,
): Promise<HostTestOstiary<ScopeNames<Scopes>>>;
export function createTestOstiary(given?: TestOstiaryOptions): Promise<TestOstiary>;
export async function createTestOstiary(
  given: TestOstiaryOptions | HostTestOptions = {},
): Promise<TestOstiary | HostTestOstiary> {
  return isOfHost(given) ? createHostKit(given) : createPartnerKit(given);
}

/** Checks whether the kit's options are those of a host application, which provides its own users. */
const isOfHost = (given: TestOstiaryOptions | HostTestOptions): given is HostTestOptions =>
  given.users !== undefined && 'find' in given.users && !Array.isArray(given.users);

async function createPartnerKit(given: TestOstiaryOptions): Promise<TestOstiary> {
  const { authUrl, baseUrl, address, now, users: people, acrValues, ...rest } = withDefaults(given);
  const closed = new AbortController();
  const activity = new Activity();

  const settle = settling(closed.signal, () => ({ network, worker: ostiary.worker }));
  const timeline = new Timeline(now, settle);
  const { rail, port, plans } = createTestRail(() => ostiary.payments);
  const { users, directory } = createTestUsers(people, () => ostiary.users);
  const { faults, requests, deliveries } = createTestFaults(plans);
  const mail = new Mail(deliveries, () => timeline.now());
  const login = new TestLogin(timeline, acrValues);

  const ostiary: Ostiary = await start(
    { ...rest, authUrl, baseUrl, users: directory, login, payments: port },
    timeline,
    mail,
  );

  const subOf = (user: UserReference = firstOf(users)): string =>
    users.get(typeof user === 'string' ? user : user.sub).sub;
  /** Sends requests of the test kit itself, to which planned faults do not apply. */
  const send = (request: Request) => ostiary.fetch(request, { address });
  const network = networkOf(ostiary.fetch, timeline, {
    ...{ origins: originsOf(authUrl, baseUrl), faults: requests, closed: closed.signal },
    receive: (request) => received(mail, request),
    answered: () => activity.tell(),
  });
  const signIn = (user?: UserReference, context?: SignInContext) =>
    createBrowser({ login, sub: subOf(user), context, authUrl: new URL(authUrl), send });

  const { partner, partners, keys } = await provision(ostiary.admin);
  const webhookSecret = rest.webhooks.standardHeaders
    ? `whsec_${randomBytes(32).toString('base64')}`
    : randomBytes(32).toString('base64url');

  const close = async (): Promise<void> => {
    if (closed.signal.aborted) return;
    closed.abort(new Error('the test kit was closed'));
    activity.tell();
    await ostiary.close();
  };

  return {
    ...(await createOAuth({
      ...{ admin: ostiary.admin.clients, partner, authUrl, baseUrl, signIn, send },
      allowedScopes: [
        ...scopeNames,
        ...hostScopesOf(rest.scopes),
        ...(rest.refreshTokens ? ['offline_access'] : []),
      ],
    })),
    ostiary,
    baseUrl,
    authUrl,
    fetch: network.from(address),
    fetchFrom: network.from,
    clock: clockOf(timeline),
    settle,
    get user() {
      return firstOf(users);
    },
    users,
    partner,
    partners,
    keys,
    signIn,
    passports: { issue: async (user) => ostiary.passports.issue(subOf(user)) },
    rail,
    webhooks: {
      register: registration({ mail, send, baseUrl, secret: webhookSecret, key: keys.live }),
      receive: (url, receiver) => mail.receive(url, receiver),
    },
    webhookSecret,
    inbox: createInbox({ sent: mail.sent, settle, activity: (ms) => activity.wait(ms) }),
    faults,
    close,
    [Symbol.asyncDispose]: close,
  };
}
