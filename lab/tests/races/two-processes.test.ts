import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authorizePath,
  codeFrom,
  csrfOf,
  exchangeAt,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { engines, type Pair } from '../../support/processes/pair.ts';

describe.each(engines)('two processes on %s', (engine, serve) => {
  const ends = new AsyncDisposableStack();
  let served: Pair;
  beforeAll(async () => {
    served = await serve(ends);
  }, 60_000);
  afterAll(() => ends.disposeAsync());

  const at = (index: number): string => served.origins[index % 2] ?? '';

  /**
   * Opens a consent page. Returns a function that submits the page's form to one process, and follows the
   * redirects at another process.
   */
  async function consentPage(sub: string) {
    const browser = new RoamingBrowser(authUrl, sub);
    const { location } = await browser.visit(at(0), authorizePath(served.client, { prompt: 'consent' }));
    const csrf = csrfOf((await browser.visit(at(1), location)).text);
    return async (decision: string, index: number): Promise<string> => {
      const answered = await browser.visit(at(index), location, { csrf, decision });
      if (!answered.location.startsWith('/')) return answered.location;
      return (await browser.visit(at(index + 1), answered.location)).location;
    };
  }

  it('serve one user’s flow together, and see at the next request that access has ended elsewhere', async () => {
    const { client, origins, ostiary } = served;
    const sub = `${engine}-roamer`;
    const browser = new RoamingBrowser(authUrl, sub);
    const code = await codeFrom(origins, browser, authorizePath(client));
    const { json } = await exchangeAt(at(0), client, code);
    const statuses = () =>
      Promise.all(origins.map((origin) => userinfoStatusAt(origin, String(json.access_token))));
    expect(await statuses()).toEqual([200, 200]);
    const unused = await codeFrom(origins, browser, authorizePath(client, { prompt: 'none' }));
    // The administrator is a third process on the same database.
    await ostiary.users.end(sub);
    expect(await statuses()).toEqual([401, 401]);
    expect((await exchangeAt(at(1), client, unused)).status).toBe(400);
  });

  it('give the same code to a second click on Allow, before and after the first has come back', async () => {
    for (let round = 0; round < 5; round += 1) {
      const click = await consentPage(`${engine}-${round}`);
      const together = await Promise.all([0, 1, 2, 3].map((index) => click('approve', index)));
      const later = [await click('approve', 0), await click('approve', 1)];
      const [first = '', ...others] = [...new Set([...together, ...later])];
      expect(others, `round ${round}`).toEqual([]);
      const code = new URL(first).searchParams.get('code') ?? '';
      expect((await exchangeAt(at(0), served.client, code)).status).toBe(200);
    }
  });

  it('give the same refusal to a second click on Deny, and nothing to another decision', async () => {
    const click = await consentPage(`${engine}-denies`);
    const first = await click('deny', 0);
    expect(new URL(first).searchParams.get('error')).toBe('access_denied');
    expect(await click('deny', 1)).toBe(first);
    expect(await click('approve', 1)).toBe('');
  });
});
