import type { OstiaryOptions } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import type { Answer, TestBrowser } from '../../core/test/support/browser.ts';
import { operatorsConsole } from '../src/index.ts';
import { consoleKit, csrfOf, target } from './console-kit.ts';

/** Starts a provider with the operators' pages. The cookie of each browser names its operator. */
export async function operatorsKit(options: Partial<OstiaryOptions> = {}, storage?: Storage) {
  const names = new Map<string, string>();
  const kit = await consoleKit(
    {
      operators: {
        authenticate: ({ headers }) => {
          const name = names.get(/(?:^|; )host=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
          return name === undefined ? null : { name };
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
    /** Opens a browser of an operator; without a name, of a user who is not one. */
    browser(name?: string): TestBrowser {
      const browser = provider.browser(null);
      if (name !== undefined) names.set(browser.name, name);
      return browser;
    },
    /** Returns the last act in the audit log. */
    async lastAct() {
      const { number } = await kit.storage.audit.head();
      const [last] = await kit.storage.audit.chain({ after: number - 1, limit: 1 });
      return { actor: last?.actor, action: last?.action, target: last?.target, details: last?.details };
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

/** Submits a form, and returns the page to which the response redirects. */
export async function followed(...given: Parameters<typeof submit>): Promise<Answer> {
  const answer = await submit(...given);
  return given[0].get(target(answer) ?? `no redirect but ${answer.status}: ${answer.text.slice(0, 300)}`);
}
