import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../src/sign-in/throttle.ts';
import { countHashes } from '../support/hashes.ts';
import { anaika, jean, startServer } from '../support/server.ts';
import { fieldsOf, Visitor } from '../support/visitor.ts';

const windowMs = 60_000;
/** Number of networks from which the stranger tries passwords. */
const networks = 10;
/** Settings that trust the test's proxy, which sets the client's IP address. */
const behindProxy = { OSTIARY_TRUSTED_PROXIES: '127.0.0.1, ::1' };
const stranger = (at: number) => ({ 'X-Forwarded-For': `10.0.${at % networks}.1` });

/** Sends wrong passwords for a handle, several in parallel, and counts the responses by status. */
async function guess(origin: string, handle: string, total: number): Promise<Record<number, number>> {
  const visitor = new Visitor(origin);
  const fields = fieldsOf((await visitor.get('/login')).html);
  const answers: Record<number, number> = {};
  let sent = 0;
  async function send(): Promise<void> {
    while (sent < total) {
      sent += 1;
      const form = { ...fields, handle, password: `guess ${sent}` };
      const { status } = await visitor.post('/login', form, stranger(sent));
      answers[status] = (answers[status] ?? 0) + 1;
    }
  }
  await Promise.all(Array.from({ length: 16 }, send));
  return answers;
}

describe('an attacker who guesses passwords', () => {
  test('hundreds of times from ten networks does not lock the user out', async () => {
    // A tenth of the real networks, guesses and limit per handle; throttle.test.ts checks the default limits.
    const perHandle = { ...defaultLimits.perHandle, failures: defaultLimits.perHandle.failures / 10 };
    const { origin } = await startServer({ signInLimits: { perHandle } }, behindProxy);
    const known = new Visitor(origin, { 'X-Forwarded-For': '192.0.2.1' });
    expect((await known.signIn('anaika', anaika.password)).status).toBe(303);
    known.cookies.delete('ostiary_session');
    const hashes = countHashes();
    const { failures } = defaultLimits.perHandleAndNetwork;
    expect(await guess(origin, 'anaika', 300)).toEqual({
      422: networks * failures,
      429: 300 - networks * failures,
    });
    expect(hashes()).toBe(networks * failures);
    // The user can sign in in a known browser, even from a network of the stranger.
    expect((await known.signIn('anaika', anaika.password)).status).toBe(303);
    known.cookies.delete('ostiary_session');
    const page = await known.get('/login', stranger(1));
    const form = { ...fieldsOf(page.html), ...anaika };
    expect((await known.post('/login', form, stranger(1))).status).toBe(303);
    // The user can also sign in in a new browser from elsewhere.
    const fresh = new Visitor(origin, { 'X-Forwarded-For': '192.0.2.2' });
    expect((await fresh.signIn('anaika', anaika.password)).status).toBe(303);
  });

  test('many times at once does not take the places of known browsers', async () => {
    const { origin, server } = await startServer({ passwordCost: { logN: 14, r: 8, p: 1 } });
    const known = new Visitor(origin);
    await known.signIn('anaika', anaika.password);
    const fresh = new Visitor(origin);
    const forms = [];
    for (const visitor of [fresh, known])
      forms.push({ ...fieldsOf((await visitor.get('/login?reauthenticate=1')).html), ...anaika });
    const [freshForm = {}, knownForm = {}] = forms;
    // Fill both places and the whole queue. A refused attempt queues again, because another may have been
    // faster.
    let isOver = false;
    const { verify } = server.installation.accounts;
    const guesses = Array.from({ length: 28 }, async () => {
      while (!isOver) await verify('anaika', 'guess').catch(() => new Promise(setImmediate));
    });
    const answers = [await fresh.post('/login', freshForm), await known.post('/login', knownForm)];
    isOver = true;
    await Promise.all(guesses);
    expect(answers.map(({ status }) => status)).toEqual([503, 303]);
  });

  test('does not learn which accounts exist or are blocked', async () => {
    const perHandleAndNetwork = { failures: 3, windowMs };
    const { origin, server } = await startServer({ signInLimits: { perHandleAndNetwork } });
    const own = new Visitor(origin);
    await own.signIn('jean', jean.password);
    await server.installation.accounts.block('jean');
    const seen = [];
    for (const [handle, password] of [
      ['anaika', 'guess'],
      ['nobody', 'guess'],
      ['jean', jean.password],
    ] as const) {
      const visitor = new Visitor(origin);
      visitor.cookies.set('ostiary_known', handle === 'jean' ? '' : (own.cookies.get('ostiary_known') ?? ''));
      const hashes = countHashes();
      const answers = [];
      for (let at = 0; at < 5; at += 1) {
        const { status, headers, html } = await visitor.signIn(handle, password);
        const names = headers.getSetCookie().map((line) => line.split('=')[0]);
        answers.push([status, names, html.replace(/ value="[^"]*"/g, '')]);
      }
      seen.push({ answers, hashes: hashes() });
    }
    expect(seen.map(({ hashes }) => hashes)).toEqual([3, 3, 3]);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });
});
