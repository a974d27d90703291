import type { Operator, OstiaryOptions } from '@ostiary/core';
import type { AttemptRecord, Storage } from '@ostiary/core/storage';
import { memoryStorage } from '@ostiary/testing/memory';
import type { Answer, TestBrowser } from '../../core/test/support/browser.ts';
import { partnerProvider } from '../../core/test/support/partner-api.ts';
import type { TestKey } from '../../core/test/support/provider.ts';
import { operatorsConsole, sandboxConsole } from '../src/index.ts';

/**
 * Starts a provider with the console, and functions for tests. The worker is not started, because tests store
 * the results of webhook attempts themselves.
 */
export async function consoleKit(options: Partial<OstiaryOptions> = {}, storage: Storage = memoryStorage()) {
  const { provider } = await partnerProvider({
    storage,
    console: sandboxConsole(),
    webhooks: { resolve: async () => ['93.184.216.34'] },
    ...options,
  });
  let claims = 0;

  return {
    provider,
    storage,
    /** Issues a test API key of a new partner. */
    key: () => provider.key({ mode: 'test' }),
    /** Opens a browser in which a partner is signed in. */
    async signedIn(key: TestKey): Promise<TestBrowser> {
      const browser = provider.browser(null);
      const answer = await signIn(browser, key.key);
      if (answer.status !== 303)
        throw new Error(`not signed in: ${answer.status} ${answer.text.slice(0, 200)}`);
      return browser;
    },
    /** Registers an endpoint through the partner API; returns its id. */
    async endpoint(key: TestKey, path = '/hook', events: readonly string[] = ['*']) {
      const answer = await provider.partnerCall(key, 'POST /v1/partner/webhooks', {
        url: `https://receiver.example${path}`,
        events,
        secret: 'whsec_0123456789abcdef',
      });
      return String(answer.json().id);
    },
    /** Triggers an event through the partner API; returns its id. */
    async event(key: TestKey, type = 'webhook.test') {
      const answer = await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type });
      return String(answer.json().id);
    },
    /** Stores the given result for every webhook attempt that is due now. Sends no request. */
    async attempt(
      result: Partial<AttemptRecord>,
      next: 'retry' | 'delivered' | 'dropped' = result.error === undefined ? 'delivered' : 'retry',
      most = 100,
    ) {
      claims += 1;
      const now = provider.clock.now();
      const claimed = await storage.deliveries.claim({
        claimId: `claim-${claims}`,
        now,
        leaseMs: 1_000,
        limit: most,
        endpointLimit: most,
        endpointLimits: new Map(),
      });
      await storage.deliveries.finish(
        claimed.map(({ id, claimId, attempt }) => ({
          id,
          claimId,
          attempt: {
            number: attempt,
            at: now,
            durationMs: 12,
            httpStatus: 200,
            error: null,
            response: '',
            ...result,
          },
          isCutOff: false,
          next: next === 'retry' ? { status: 'pending', dueAt: now + 60_000 } : { status: next },
        })),
      );
      return claimed.length;
    },
  };
}

/** Starts a test provider with a partner who is signed in to the sandbox console. */
export async function visited(...given: Parameters<typeof consoleKit>) {
  const kit = await consoleKit(...given);
  const key = await kit.key();
  return { kit, key, browser: await kit.signedIn(key) };
}

/** Returns the CSRF token in the first form of a page that has one. */
export function csrfOf(text: string): string {
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

/** Returns the paths of the webhook responses to which a page links. */
export function answerLinks(text: string): string[] {
  const links = text.matchAll(/href="([^"]+\/answer\?[^"]*)"/g);
  return [...links].map(([, href = '']) => new URL(href).pathname + new URL(href).search);
}

/** Signs in to the console with a key on the sign-in page. */
export async function signIn(browser: TestBrowser, key: string, base = ''): Promise<Answer> {
  const { text } = await browser.get(`${base}/sandbox`);
  return browser.post(`${base}/sandbox/sign-in`, { key, csrf: csrfOf(text) });
}

/** Submits a form with the CSRF token of the browser's session, from the first page of the console. */
export async function act(browser: TestBrowser, path: string, form: Record<string, string>): Promise<Answer> {
  const { text } = await browser.get('/sandbox');
  return browser.post(path, { csrf: csrfOf(text), ...form });
}

/** Returns the path and query of a redirect. */
export function target({ location }: Answer): string | null {
  if (location === null) return null;
  const { pathname, search } = new URL(location);
  return pathname + search;
}

/** Starts a provider with the operators' pages. The cookie of each browser names its operator. */
export async function operatorsKit(options: Partial<OstiaryOptions> = {}, storage?: Storage) {
  const operators = new Map<string, Operator>();
  const kit = await consoleKit(
    {
      operators: {
        authenticate: ({ headers }) => {
          return operators.get(/(?:^|; )host=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '') ?? null;
        },
        pages: operatorsConsole(),
      },
      ...options,
    },
    ...(storage === undefined ? [] : [storage]),
  );
  const { provider } = kit;
  return {
    ...kit,
    admin: provider.ostiary.admin,
    /** Opens a browser of an operator; without a name, of a user who is no operator. */
    browser(name?: string, operator: Partial<Operator> = {}): TestBrowser {
      const browser = provider.browser(null);
      if (name !== undefined) operators.set(browser.name, { name, ...operator });
      return browser;
    },
    /** Returns the last act in the audit log. */
    async lastAct() {
      const { number } = await kit.storage.audit.head();
      const [last] = await kit.storage.audit.chain({ after: number - 1, limit: 1 });
      return {
        actor: last?.actor,
        role: last?.role,
        action: last?.action,
        target: last?.target,
        details: last?.details,
      };
    },
    /** Returns the number of acts in the audit log. */
    acts: async () => (await kit.storage.audit.head()).number,
  };
}

/** A provider with the operators' pages; see {@link operatorsKit}. */
export type OperatorsKit = Awaited<ReturnType<typeof operatorsKit>>;

/** Opens an operators' page and submits a form of it with its CSRF token. */
export async function submit(
  browser: TestBrowser,
  page: string,
  form: Readonly<Record<string, string>>,
  action = page,
): Promise<Answer> {
  const { text } = await browser.get(`/operators${page}`);
  return browser.post(`/operators${action}`, { csrf: csrfOf(text), ...form });
}

/** Submits a form, and returns the page to which the browser is redirected. */
export async function followed(...given: Parameters<typeof submit>): Promise<Answer> {
  const answer = await submit(...given);
  return given[0].get(target(answer) ?? `no redirect but ${answer.status}: ${answer.text.slice(0, 300)}`);
}
