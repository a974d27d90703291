import { sandboxConsole } from '@ostiary/console';
import { describe, expect, it } from 'vitest';
import english from '../../../console/languages/en.json' with { type: 'json' };
import type { Administration, AuditSearch } from '../../src/admin.ts';
import { shop, url } from '../partner/webhook-shop.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { png } from '../support/png.ts';

const redirectUris = ['https://shop.example/callback'];

/** State that an act finds. */
interface Scene {
  readonly admin: Administration;
  readonly owner: { readonly partner: string; readonly mode: 'live' };
  readonly endpointId: string;
  /** Link to the live portal; '' before the act `portal.link`. */
  link: string;
  /** Opens the link to the live portal in a browser. */
  readonly open: () => Promise<unknown>;
  /** Makes a payment, and settles it with two different outcomes. */
  readonly contradict: () => Promise<unknown>;
  /** Lets the deliveries that wait fail for the last time. */
  readonly drop: () => Promise<unknown>;
}

const byPortal = 'portal link of ana@example.com';

/**
 * Administrative acts, in an order in which each takes effect, with the actor unless it is `ana@example.com`. The
 * acts of the live portal on endpoints have tests of their own.
 */
const acts: readonly (readonly [action: string, act: (scene: Scene) => Promise<unknown>, actor?: string])[] =
  [
    ['partner.create', ({ admin }) => admin.partners.create({ slug: 'kafe', name: 'Kafe' })],
    ['partner.rename', ({ admin }) => admin.partners.rename('kafe', 'Kafe Lakay')],
    ['partner.disable', ({ admin }) => admin.partners.disable('kafe')],
    ['partner.enable', ({ admin }) => admin.partners.enable('kafe')],
    [
      'client.create',
      ({ admin }) =>
        admin.clients.create({ clientId: 'app', name: 'App', redirectUris, allowedScopes: ['openid'] }),
    ],
    ['client.update', ({ admin }) => admin.clients.update('app', { name: 'The app', partner: 'kafe' })],
    ['client.set_logo', ({ admin }) => admin.clients.setLogo('app', png(64))],
    ['client.rotate_secret', ({ admin }) => admin.clients.rotateSecret('app', { overlapSeconds: 60 })],
    ['client.disable', ({ admin }) => admin.clients.disable('app')],
    ['client.enable', ({ admin }) => admin.clients.enable('app')],
    [
      'key.issue',
      ({ admin }) => admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['payments:read'] }),
    ],
    ['key.roll', async ({ admin }) => admin.apiKeys.roll((await admin.apiKeys.list('kafe'))[0]?.id ?? '')],
    [
      'key.revoke',
      async ({ admin }) => admin.apiKeys.revoke((await admin.apiKeys.list('kafe'))[0]?.id ?? ''),
    ],
    [
      'signing_key.rotate',
      ({ admin }) => admin.signingKeys.rotate({ alg: 'ES256', activateAfterSeconds: 60 }),
    ],
    [
      'consent.import',
      ({ admin }) =>
        admin.consents.import([
          { sub: 'usr_1', clientId: 'app', scopes: ['openid'], grantedAt: new Date(0) },
        ]),
    ],
    ['user.end', ({ admin }) => admin.users.end('usr_1')],
    ['event.trigger', ({ admin, owner }) => admin.webhooks.trigger(owner.partner, 'webhook.test')],
    ['transfer.contradiction', ({ contradict }) => contradict(), 'host'],
    [
      'event.redeliver',
      async ({ admin, owner }) =>
        admin.webhooks.redeliver(owner, (await admin.webhooks.events(owner))[0]?.id ?? ''),
    ],
    [
      'endpoint.recover',
      async ({ admin, owner, endpointId, drop }) => {
        await drop();
        return admin.webhooks.recover(owner, endpointId, { since: new Date(0) });
      },
    ],
    ['endpoint.disable', ({ admin, owner, endpointId }) => admin.webhooks.disable(owner, endpointId)],
    ['endpoint.enable', ({ admin, owner, endpointId }) => admin.webhooks.enable(owner, endpointId)],
    ['endpoint.remove', ({ admin, owner, endpointId }) => admin.webhooks.remove(owner, endpointId)],
    [
      'portal.link',
      async (scene) => {
        const { partner } = scene.owner;
        scene.link = (await scene.admin.portal.link({ partner, rights: 'view' })).url;
      },
    ],
    ['portal.open', ({ open }) => open(), byPortal],
    [
      'portal.end',
      async ({ admin, owner: { partner } }) =>
        admin.portal.end(partner, (await admin.portal.list(partner))[0]?.id ?? ''),
    ],
    ['storage.purge', ({ admin }) => admin.purge()],
    ['storage.reseal', ({ admin }) => admin.reseal()],
    ['backup.restore', ({ admin }) => admin.audit.record({ action: 'backup.restore', target: 'storage' })],
  ];

async function everyAct() {
  const { provider, key, rail, call, register, work } = await shop(
    { console: sandboxConsole(), webhooks: { retryDelaysSeconds: [60] } },
    'live',
  );
  rail.answer = async () => ({ status: 'pending' });
  const scene: Scene = {
    admin: provider.ostiary.admin.as('ana@example.com'),
    owner: { partner: key.partner, mode: 'live' },
    endpointId: await register(url, { events: ['*'] }),
    link: '',
    async open() {
      const browser = provider.browser(null);
      const { pathname } = new URL(scene.link);
      const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec((await browser.get(pathname)).text) ?? [];
      await browser.post(pathname, { csrf });
    },
    async contradict() {
      const { id } = (await call('POST /v1/partner/payments', payment)).json();
      await work();
      await provider.ostiary.payments.settle(String(id), { status: 'completed' });
      await provider.ostiary.payments.settle(String(id), {
        status: 'failed',
        code: 'late',
        message: 'Late.',
      });
    },
    async drop() {
      await work();
      provider.clock.advance(60_000);
      await work();
    },
  };
  return { provider, scene };
}

describe('the audit log', () => {
  it('has every act, with who did it and what was set, and no secret', async () => {
    const { provider, scene } = await everyAct();
    const { admin } = scene;
    const earlier = await admin.audit.count();
    const answers: unknown[] = [];
    for (const [, act] of acts) {
      provider.clock.advance(1);
      answers.push(await act(scene));
    }
    const { entries: all, next } = await admin.audit.list();
    const entries = all.slice(0, -earlier);
    expect(next).toBeNull();
    expect(entries.map(({ action, actor }) => [action, actor]).toReversed()).toEqual(
      acts.map(([action, , actor = 'ana@example.com']) => [action, actor]),
    );
    // The operators' pages name each act of Ostiary itself.
    const named = Object.keys(english.operators.audit.did);
    expect(acts.map(([action]) => action).filter((action) => !named.includes(action))).toEqual([
      'backup.restore',
    ]);
    expect(entries.find(({ action }) => action === 'client.update')).toMatchObject({
      target: 'client:app',
      details: { name: 'The app', partner: 'kafe' },
    });
    expect(entries.find(({ action }) => action === 'client.update')?.details.before).toEqual({
      ...{ name: 'App', partner: null },
    });
    expect(entries.find(({ action }) => action === 'partner.rename')?.details).toEqual({
      ...{ name: 'Kafe Lakay', before: { name: 'Kafe' } },
    });
    const written = JSON.stringify(entries);
    const secrets = JSON.stringify(answers).matchAll(/"(?:key|clientSecret|signingSecret)":"([^"]+)"/g);
    const values = Array.from(secrets, ([, secret = '']) => secret);
    expect(values).toHaveLength(6);
    const inLink = scene.link.split('/').at(-1) ?? '';
    expect(inLink).toMatch(/^[\w-]{20,}$/);
    for (const secret of [...values, inLink]) expect(written).not.toContain(secret);
  });

  it('pages, and narrows to one target', async () => {
    const { provider } = await partnerProvider();
    const { admin } = provider.ostiary;
    for (let number = 0; number < 5; number += 1)
      await admin.audit.record({ action: 'user.block', target: `user:${number % 2}`, details: { number } });
    const numbers: unknown[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await admin.audit.list({ target: 'user:0', limit: 1, ...(after !== '' && { after }) });
      numbers.push(...page.entries.map(({ details }) => details.number));
      after = page.next;
    }
    expect(numbers.toSorted()).toEqual([0, 2, 4]);
    expect((await admin.audit.list()).entries[0]?.actor).toBe('host');
  });

  it('is narrowed by actor, action and time, each page by page', async () => {
    const { provider } = await partnerProvider();
    const { admin, now } = provider.ostiary;
    const start = now();
    for (let day = 0; day < 4; day += 1) {
      for (const name of ['ana', 'bob'])
        await admin.as(name).audit.record({ action: 'user.block', target: `user:${day}` });
      await admin.as('ana').audit.record({ action: 'user.free', target: `user:${day}` });
      provider.clock.advance(86_400_000);
    }
    const time = (day: number) => new Date(start + day * 86_400_000);
    const shown = async (search: AuditSearch) => {
      const targets: string[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const page = await admin.audit.list({ ...search, limit: 1, ...(after !== '' && { after }) });
        targets.push(...page.entries.map(({ target }) => target.slice(5)));
        after = page.next;
      }
      return targets.join('');
    };
    expect(await shown({ actor: 'bob' })).toBe('3210');
    expect(await shown({ action: 'user.free' })).toBe('3210');
    expect(await shown({ actor: 'bob', action: 'user.free' })).toBe('');
    expect(await shown({ actor: 'ana', from: time(2) })).toBe('3322');
    expect(await shown({ actor: 'bob', from: time(1), to: time(3) })).toBe('21');
    expect(await shown({ target: 'user:1', actor: 'ana', action: 'user.block', to: time(2) })).toBe('1');
    expect(await shown({ to: time(0) })).toBe('');
    const wrong: readonly object[] = [
      { from: '2030-01-01' },
      { to: new Date(Number.NaN) },
      { actor: 1 },
      { by: 'a' },
    ];
    for (const search of wrong) await expect(admin.audit.list(search)).rejects.toThrow(TypeError);
    // A cursor of an unfiltered list does not lead past the end time of a filtered list.
    const { next } = await admin.audit.list({ limit: 1 });
    const late = await admin.audit.list({ after: String(next), to: time(1), actor: 'bob' });
    expect(late.entries.map(({ target }) => target)).toEqual(['user:0']);
  });

  it('has nothing of an act that was refused', async () => {
    const { provider } = await partnerProvider();
    const { admin } = provider.ostiary;
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const refused = [
      admin.partners.create({ slug: 'kafe', name: 'Again' }),
      admin.partners.disable('nobody'),
      admin.clients.disable('nobody'),
      admin.apiKeys.issue({ partner: 'nobody', mode: 'live', scopes: ['payments:read'] }),
      admin.apiKeys.revoke('key_nobody'),
      admin.webhooks.disable({ partner: 'kafe', mode: 'live' }, 'we_nothing'),
      admin.webhooks.redeliver({ partner: 'kafe', mode: 'live' }, 'evt_nothing'),
      admin.audit.record({ action: 'no point', target: 'x' }),
    ];
    for (const outcome of await Promise.allSettled(refused)) expect(outcome.status).toBe('rejected');
    expect((await admin.audit.list()).entries.map(({ action }) => action)).toEqual(['partner.create']);
  });

  it('takes acts of the host in the name of an operator without rights, who may change nothing', async () => {
    const { provider } = await partnerProvider();
    const viewer = provider.ostiary.admin.as('vera', { role: 'viewer', may: [] });
    await viewer.audit.record({ action: 'staff.sign_in', target: 'staff:vera' });
    await expect(viewer.partners.create({ slug: 'kafe', name: 'Kafe' })).rejects.toMatchObject({
      status: 403,
    });
    expect((await viewer.audit.list()).entries).toMatchObject([
      { actor: 'vera', role: 'viewer', action: 'staff.sign_in', target: 'staff:vera' },
    ]);
  });

  it('refuses invalid cursors and unknown names', async () => {
    const { provider } = await partnerProvider();
    const { admin } = provider.ostiary;
    for (const after of ['', '1', 'x_aud_1', "1_aud_' OR 1=1"])
      await expect(admin.audit.list({ after })).rejects.toThrow(TypeError);
    for (const actor of ['', ' ', 'x'.repeat(201)]) expect(() => admin.as(actor)).toThrow(TypeError);
  });
});
