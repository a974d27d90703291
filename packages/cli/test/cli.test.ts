import { describe, expect, it } from 'vitest';
import { register, trigger, webhookProvider } from '../../core/test/partner/webhook-shop.ts';
import { partnerProvider } from '../../core/test/support/partner-api.ts';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { administrationCommands, type Commands } from '../src/index.ts';
import { terminal } from './support.ts';

const create = 'clients create --name App --redirect-uri https://shop.example/cb --scope openid,profile';

describe('the command line', () => {
  it('closes the installation after every command, also after a failure', async () => {
    const { run, provider } = await terminal();
    let closed = 0;
    const open = async () => ({
      admin: provider.ostiary.admin,
      async close() {
        closed += 1;
      },
    });
    expect((await run('partners list', { open })).code).toBe(0);
    expect((await run('partners disable nobody', { open })).code).not.toBe(0);
    expect(closed).toBe(2);
  });

  it('lets a person into the live portal of a partner, and ends it', async () => {
    const portal = { linkPath: '/portal/open/:link', pages: () => [] };
    const opensWith = { scope: null, testOnly: true } as const;
    const { run, asked } = await terminal(
      partnerProvider({ console: { opensWith, pages: () => [], portal } }),
    );
    await run('partners create kafe --name Kafe');
    expect((await run('portal link kafe')).code).toBe(2);
    const made = await run('portal link kafe --rights view');
    expect(made.out).toMatch(/link +http\S+\/portal\/open\/[\w-]{43}\n/);
    expect(made.err).toContain('not shown again');
    const [session] = (await run('portal list kafe --json')).json().sessions;
    expect(session).toMatchObject({ rights: 'view', openedAt: null });
    expect((await run('portal list kafe')).out).toContain('not used');
    expect((await run(`portal end kafe ${session.id}`)).out).toBe(`Ended ${session.id}.\n`);
    expect(asked).toHaveLength(1);
    expect((await run(`portal end kafe ${session.id}`)).code).toBe(3);
    await run('partners disable kafe');
    expect((await run('portal link kafe --rights view')).err).toContain('disabled');
    expect((await run('portal list nobody')).code).toBe(3);
  });

  it('provisions a partner with a key and a client, for people and for programs', async () => {
    const { run, provider } = await terminal();
    expect(await run('partners create kafe --name Kafe')).toMatchObject({
      code: 0,
      out: 'Created kafe (Kafe).\n',
    });
    const issued = await run('keys issue kafe --mode live --scope payments:read --allow 203.0.113.0/24');
    expect(issued.code).toBe(0);
    expect(issued.out).toMatch(/key +svc_live_\w+/);
    expect(issued.err).toContain('not shown again');
    const client = (await run(`${create} --partner kafe --json`)).json();
    expect(client.client).toMatchObject({ partner: 'kafe', allowedScopes: ['openid', 'profile'] });
    const { clientId } = client.client;
    expect((await run(`clients update ${clientId} --require-pkce --json`)).json()).toMatchObject({
      client: { requirePkce: true, name: 'App' },
    });
    const defaults = '--default-scope profile,openid --refresh-without-offline-access';
    expect((await run(`clients update ${clientId} ${defaults} --json`)).json()).toMatchObject({
      client: { defaultScope: 'profile openid', refreshWithoutOfflineAccess: true },
    });
    const shown = (await run(`clients show ${clientId}`)).out;
    expect(shown).toMatch(/default scope +profile openid\n/);
    expect(shown).toMatch(/refresh tokens +with every code\n/);
    const unset = await run(`clients update ${clientId} --default-scope none --json`);
    expect(unset.json()).toMatchObject({ client: { defaultScope: null } });
    expect((await run(`clients rotate-secret ${clientId} --overlap 60 --json`)).json().clientSecret).toMatch(
      /\w+/,
    );
    expect((await run('clients list')).out).toContain(clientId);
    expect((await run('keys list kafe')).out).toContain('payments:read');
    expect((await run('signing-keys rotate --alg ES256 --activate-after 60 --json')).json().key.alg).toBe(
      'ES256',
    );
    expect((await run('signing-keys list --json')).json().keys).toHaveLength(3);
    expect(await provider.ostiary.admin.partners.get('kafe')).toMatchObject({ name: 'Kafe' });
  });

  it('turns each switch of a client on and off, and removes what is optional', async () => {
    const { run } = await terminal();
    const { clientId } = (await run(`${create} --json`)).json().client;
    const urls = '--terms-url https://shop.example/terms --privacy-url https://shop.example/privacy';
    const on = '--require-pkce --require-secret --first-party --refresh-without-offline-access';
    const set = (await run(`clients update ${clientId} ${urls} ${on} --json`)).json().client;
    expect(set).toMatchObject({
      ...{ termsUrl: 'https://shop.example/terms', privacyUrl: 'https://shop.example/privacy' },
      ...{ requirePkce: true, requireSecret: true, firstParty: true, refreshWithoutOfflineAccess: true },
    });
    const shown = (await run(`clients show ${clientId}`)).out;
    expect(shown).toMatch(/terms of service +https:\/\/shop.example\/terms\n/);
    expect(shown).toMatch(/privacy policy +https:\/\/shop.example\/privacy\n/);
    const off = '--off require-pkce,require-secret --off first-party --off refresh-without-offline-access';
    const none = '--terms-url none --privacy-url none --backchannel-logout-uri none';
    expect((await run(`clients update ${clientId} ${off} ${none} --json`)).json().client).toMatchObject({
      ...{ termsUrl: null, privacyUrl: null, backchannelLogoutUri: null },
      ...{ requirePkce: false, requireSecret: false, firstParty: false, refreshWithoutOfflineAccess: false },
    });
    const both = await run(`clients update ${clientId} --require-pkce --off require-pkce`);
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('it is either on or off')]);
    expect((await run(`clients update ${clientId} --off name`)).code).toBe(2);
  });

  it('asks before it revokes something, and does nothing without a confirmation', async () => {
    const { run, asked, refuse, provider } = await terminal();
    await run('partners create kafe --name Kafe');
    refuse();
    expect(await run('partners disable kafe')).toMatchObject({
      code: 1,
      out: '',
      err: 'Nothing was done.\n',
    });
    expect(asked).toEqual([expect.stringContaining('kafe')]);
    const { err } = await run('partners disable kafe --json');
    expect(JSON.parse(err).error).toMatchObject({ code: 'not_confirmed', message: 'Nothing was done.' });
    expect((await provider.ostiary.admin.partners.get('kafe'))?.disabledAt).toBeNull();
    expect(await run('partners disable kafe --yes')).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(2);
    expect((await provider.ostiary.admin.partners.get('kafe'))?.disabledAt).not.toBeNull();
  });

  it('asks before a rotation that ends the old secret, keys or API key at once', async () => {
    const { run, asked, refuse, provider } = await terminal();
    const { clientId } = (await run(`${create} --json`)).json().client;
    const { id } = await provider.key();
    const ends = [
      `clients rotate-secret ${clientId}`,
      `clients rotate-secret ${clientId} --overlap 60 --replace-keys`,
      `keys roll ${id} --overlap 0`,
    ];
    const overlaps = [`clients rotate-secret ${clientId} --overlap 60`, `keys roll ${id}`];
    refuse();
    for (const line of ends) expect((await run(line)).code, line).toBe(1);
    expect(asked.map((question) => question.includes('at once'))).toEqual([true, true, true]);
    const { entries } = await provider.ostiary.admin.audit.list();
    expect(entries.filter(({ action }) => /rotate_secret|roll/.test(action))).toEqual([]);
    for (const line of overlaps) expect((await run(line)).code, line).toBe(0);
    expect((await run(`clients rotate-secret ${clientId} --yes`)).code).toBe(0);
    expect(asked).toHaveLength(3);
  });

  it('says what a rotation has ended', async () => {
    const { run } = await terminal();
    const { clientId } = (await run(`${create} --json`)).json().client;
    const rotated = async (flags: string) => {
      const { out, err } = await run(`clients rotate-secret ${clientId} ${flags} --yes`);
      return out + err;
    };
    expect(await rotated('')).toContain('not shown again. An old secret no longer works.');
    expect(await rotated('--overlap 60')).toContain('not shown again. An old secret works for another 60 s.');
    expect(await rotated('--replace-keys')).toContain('Keys of the client no longer work. An old secret no');
  });

  it('says what is revoked with a partner, and what works again when the partner is enabled', async () => {
    const { run, provider } = await terminal();
    const key = await provider.key();
    const client = await provider.client({ partner: key.partner });
    await provider.token(client);
    await provider.code(client);
    const { out, err } = await run(`partners disable ${key.partner} --yes`);
    for (const words of ['keys +1', 'clients +1', 'codes +1', 'tokens +1', 'deliveries +0'])
      expect(out).toMatch(new RegExp(`^  ${words} `, 'm'));
    expect(err).toContain('Transfers');
    expect((await run(`partners disable ${key.partner} --yes --json`)).json()).toMatchObject({
      partner: { slug: key.partner, disabledAt: expect.any(String) },
      ended: { keys: 1, clients: 1, codes: 0, tokens: 0, deliveries: 0 },
    });
    expect((await run(`partners enable ${key.partner}`)).out).toMatch(
      /again: 1, clients: 1\. What was revoked stays/,
    );
  });

  it('verifies the audit log: 0 while it is whole, 1 with the place where it is not', async () => {
    const { run, provider } = await terminal();
    await provider.partner();
    const { head } = (await run('audit verify --json')).json();
    for (const [given, code, words] of [
      ['', 0, head],
      [` --head ${head}`, 0, 'The chain is whole.'],
      [` --head ${'0'.repeat(63)}1`, 1, 'the head that was given is not in'],
      [' --head nonsense', 2, ''],
    ])
      expect(await run(`audit verify${given}`)).toMatchObject({ code, out: expect.stringContaining(words) });
  });

  it('asks before everything that cannot be undone', () => {
    const asking = Object.entries(administrationCommands).filter(
      ([, { question }]) => question !== undefined,
    );
    expect(asking.map(([name]) => name).toSorted()).toEqual([
      'access end',
      'clients disable',
      'clients rotate-secret',
      'endpoints disable',
      'endpoints remove',
      'keys revoke',
      'keys roll',
      'partners disable',
      'portal end',
      'purge',
    ]);
  });

  it('runs a command without an installation, and exits with its code', async () => {
    const { run } = await terminal();
    const commands: Commands = {
      look: {
        standalone: true,
        about: 'look around',
        run: async ({ json }) => ({ text: 'one problem', json: { json }, exitCode: 1 }),
      },
    };
    const open = () => Promise.reject(new Error('there is nothing to open'));
    expect(await run('look', { commands, open })).toMatchObject({ code: 1, out: 'one problem\n', err: '' });
    expect((await run('look --json', { commands, open })).json()).toEqual({ json: true });
    expect(await run('partners list', { commands, open })).toMatchObject({
      code: 1,
      err: 'there is nothing to open\n',
    });
  });

  it('writes the name of the operator into the audit log', async () => {
    const { run, provider } = await terminal();
    await run('partners create kafe --name Kafe --actor ana');
    provider.clock.advance(1);
    await run('partners rename kafe --name Lakay --actor bob');
    const { entries } = (await run('audit list --target partner:kafe --json')).json();
    expect(entries.map(({ actor, action }: Record<string, string>) => [actor, action])).toEqual([
      ['bob', 'partner.rename'],
      ['ana', 'partner.create'],
    ]);
    expect((await run('audit list')).out).toContain('partner.rename');
  });

  it('shows deliveries, and delivers again', async () => {
    const { run, provider } = await terminal(webhookProvider());
    const key = await provider.key({ mode: 'test' });
    const { url, received } = await sink();
    const id = await register(provider, key, url);
    const event = await trigger(provider, key);
    const owner = `${key.partner} --mode test`;
    expect((await run(`endpoints list ${owner}`)).out).toContain(url);
    expect((await run(`deliveries list ${owner}`)).out).toMatch(/ queued +0 /);
    expect((await run(`partners show ${owner}`)).out).toContain('\n  Nothing is known to be wrong.\n');
    expect((await run(`partners show ${key.partner} --json`)).json()).toMatchObject({
      ...{ partner: { slug: key.partner }, mode: 'live' },
      obstacles: [{ reason: 'no_endpoint', events: 0 }],
    });
    expect((await run('partners show nobody')).code).toBe(3);
    await provider.ostiary.worker.runDue();
    await run(`deliveries redeliver ${key.partner} ${event.id} --mode test`);
    await provider.ostiary.worker.runDue();
    expect(received).toHaveLength(2);
    expect((await run(`endpoints recover ${key.partner} ${id} --mode test --since 2020-01-01`)).out).toBe(
      '0 deliveries are due again.\n',
    );
    expect((await run(`endpoints remove ${key.partner} ${id} --mode test`)).code).toBe(0);
    expect((await run(`endpoints list ${owner} --json`)).json()).toEqual({ endpoints: [] });
  });

  it('runs commands of the host, and exits with 1 if they throw', async () => {
    const { run } = await terminal();
    const commands: Commands = {
      'users block': {
        about: 'block a user',
        positionals: ['handle'],
        run: async (_, { positionals: [handle] }) => ({ text: `blocked ${handle}`, json: { handle } }),
      },
      crash: { about: 'break', run: () => Promise.reject(new Error('the database is gone')) },
    };
    expect(await run('users block ana', { commands })).toMatchObject({ code: 0, out: 'blocked ana\n' });
    expect(await run('crash', { commands })).toMatchObject({ code: 1, err: 'the database is gone\n' });
    expect((await run('help', { commands })).out).toMatch(/^ {2}users .*block$/m);
    expect((await run('users --help', { commands })).out).toContain('block <handle>');
  });
});
