import { describe, expect, it } from 'vitest';
import { followed, operatorsKit, submit, target } from './console-kit.ts';

const codeIn = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';

describe('the pages for operators', () => {
  it('show the state of the service', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    await kit.provider.ostiary.worker.runDue();
    const well = await browser.get('/operators');
    expect(well.status).toBe(200);
    expect(well.text).toContain('Workers keep up, and nothing needs you.');
    expect(well.text).toContain('<strong><bdi>ana</bdi></strong>');
    const key = await kit.key();
    await kit.endpoint(key);
    await kit.event(key);
    await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
    await kit.event(key);
    kit.provider.clock.advance(61_000);
    const { text } = await browser.get('/operators');
    for (const words of ['Something needs you.', 'There is no worker, or it does not keep up.'])
      expect(text).toContain(words);
    expect(text).toMatch(/Deliveries that wait<\/dt><dd>1<br>/);
    expect(text).toMatch(/given up within a day<\/dt><dd>2</);
    // The endpoints with dropped deliveries of all partners are listed, with links.
    const dropped = text.slice(text.indexOf('id="dropped"'));
    const [, href = ''] = /<a href="([^"]+)"><bdi>https:\/\/receiver\.example\/hook</.exec(dropped) ?? [];
    expect(text).toMatch(
      new RegExp(`<span>${key.partner} · Test data</span></p><span class="state dropped">2<`),
    );
    expect(href).toContain('status=dropped');
    expect((await browser.get(href.replaceAll('&amp;', '&'))).text.match(/<li id="dl_/g)).toHaveLength(2);
    kit.provider.clock.advance(24 * 3_600_000);
    const later = await browser.get('/operators');
    expect(later.text).toMatch(/given up within a day<\/dt><dd>0</);
    expect(later.text).not.toContain('receiver.example');
  });

  it('create, rename, disable and enable partners', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const created = await submit(browser, '/partners', { act: 'create', slug: ' kafe ', name: 'Kafe' });
    expect(target(created)).toBe('/operators/partners/kafe?notice=created');
    expect(await kit.lastAct()).toEqual({
      ...{
        actor: 'ana',
        role: null,
        action: 'partner.create',
        target: 'partner:kafe',
        details: { name: 'Kafe' },
      },
    });
    const renamed = await followed(browser, '/partners/kafe', { act: 'rename', name: 'Kafe Lakay' });
    expect(renamed.text).toContain('The changes are saved.');
    expect(renamed.text).toContain('<h1><bdi>Kafe Lakay</bdi></h1>');
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'partner.rename' });
    expect((await followed(browser, '/partners/kafe', { act: 'disable' })).text).toContain(
      'Enable this partner',
    );
    expect(await kit.lastAct()).toMatchObject({ action: 'partner.disable', target: 'partner:kafe' });
    expect((await kit.admin.partners.get('kafe'))?.disabledAt).not.toBeNull();
    await submit(browser, '/partners/kafe', { act: 'enable' });
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'partner.enable' });
    expect((await kit.admin.partners.get('kafe'))?.disabledAt).toBeNull();
    expect((await browser.get('/operators/partners')).text).toContain('Kafe Lakay');
  });

  it('issue, roll and revoke keys, whose secrets are shown once', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    await kit.provider.partner('kafe');
    const issued = await followed(browser, '/partners/kafe/keys', {
      ...{ act: 'issue', mode: 'live', name: 'till', allowlist: '203.0.113.0/24\r\n::1\r\n' },
      ...{ 'scope payments:read': 'on', 'scope webhooks': 'on', requireSignature: 'on' },
      expiresAt: '2090-01-31T00:00:00Z',
    });
    expect(issued.status).toBe(200);
    expect(issued.headers.get('cache-control')).toBe('no-store');
    const key = codeIn(issued.text, /<code[^>]*>(svc_live_[^<]+)</);
    const secret = codeIn(issued.text, /<code[^>]*>(svc_sign_[^<]+)</);
    expect([key.length > 20, secret.length > 20]).toEqual([true, true]);
    const [stored] = await kit.admin.apiKeys.list('kafe');
    expect(stored).toMatchObject({
      ...{ mode: 'live', name: 'till', scopes: ['payments:read', 'webhooks'], requireSignature: true },
      ...{ allowlist: ['203.0.113.0/24', '::1'], expiresAt: '2090-01-31T00:00:00.000Z' },
    });
    const id = stored?.id ?? '';
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'key.issue', target: `key:${id}` });
    // The list of keys has the newest first: give the successor a later time.
    kit.provider.clock.advance(1);
    const rolled = await followed(browser, `/partners/kafe/keys/${id}`, {
      act: 'roll',
      overlapSeconds: '60',
    });
    const successor = codeIn(rolled.text, /<code[^>]*>(svc_live_[^<]+)</);
    expect(successor).not.toBe(key);
    expect(await kit.lastAct()).toMatchObject({ action: 'key.roll', details: { overlapSeconds: 60 } });
    const [second] = await kit.admin.apiKeys.list('kafe');
    for (const path of ['/partners/kafe/keys', `/partners/kafe/keys/${id}`, '/audit', '/partners/kafe']) {
      const { text } = await browser.get(`/operators${path}`);
      for (const hidden of [key, secret, successor]) expect(text).not.toContain(hidden);
    }
    expect(second?.id).not.toBe(id);
    const revoked = await followed(browser, `/partners/kafe/keys/${second?.id}`, { act: 'revoke' });
    expect(revoked.text).toContain('The key is revoked.');
    expect(revoked.text).not.toContain('Revoke this key');
    expect(await kit.lastAct()).toMatchObject({ action: 'key.revoke', target: `key:${second?.id}` });
  });

  it('show no key and no endpoint under the URL of another partner', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const other = await kit.provider.partner();
    const acts = await kit.acts();
    for (const path of [`/keys/${key.id}`, `/webhooks/${endpoint}?mode=test`, `/webhooks/${endpoint}`]) {
      expect((await browser.get(`/operators/partners/${other}${path}`)).status).toBe(404);
      for (const act of ['revoke', 'remove', 'disable', 'enable'])
        expect((await submit(browser, '/partners', { act }, `/partners/${other}${path}`)).status).toBe(404);
    }
    expect(await kit.acts()).toBe(acts);
    for (const path of ['nobody', '%00', '..%2f..', `nobody/keys`, 'nobody/webhooks'])
      expect((await browser.get(`/operators/partners/${path}`)).status).toBe(404);
    expect((await submit(browser, '/partners', { act: 'issue' }, '/partners/nobody/keys')).status).toBe(404);
    expect(
      (await submit(browser, '/partners', { act: 'redeliver' }, '/partners/nobody/webhooks')).status,
    ).toBe(404);
  });

  it('show dropped deliveries, and deliver them again', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    await kit.attempt({ error: 'status', httpStatus: 503, response: 'boom' }, 'dropped');
    const path = `/partners/${key.partner}/webhooks`;
    const page = async (query: string) => (await browser.get(`/operators${path}?mode=test${query}`)).text;
    const dropped = await page('');
    for (const words of [
      event,
      'HTTP 503',
      'The server failed',
      'Attempts: 1',
      'https://receiver.example/hook',
    ])
      expect(dropped).toContain(words);
    expect(await page('&status=delivered')).toContain('There are no deliveries here.');
    expect(dropped).not.toContain('All deliveries');
    expect(await page(`&event=${event}`)).toMatch(/Event: <code>.*evt_\w+.*<a [^>]+>All deliveries</);
    expect((await browser.get(`/operators${path}`)).text).not.toContain(event);
    const again = await followed(
      browser,
      `${path}?mode=test`,
      { act: 'redeliver', event, endpoint },
      `${path}?mode=test`,
    );
    expect(again.text).toContain('is due now');
    expect(await kit.lastAct()).toMatchObject({
      actor: 'ana',
      action: 'event.redeliver',
      target: `event:${event}`,
    });
    expect(await page('&status=pending')).toContain(event);
    expect(await kit.attempt({})).toBe(1);
    const one = `${path}/${endpoint}?mode=test`;
    const since = new Date(kit.provider.clock.now() - 1_000).toISOString();
    expect((await followed(browser, one, { act: 'recover', since })).text).toContain('Nothing was sent');
    await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
    expect((await followed(browser, one, { act: 'recover', since })).text).toContain('is due now');
    expect(await kit.lastAct()).toMatchObject({ action: 'endpoint.recover', target: `endpoint:${endpoint}` });
    await submit(browser, one, { act: 'disable' });
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'endpoint.disable' });
    expect(await page('&status=every')).not.toContain('Deliver again here');
    await submit(browser, one, { act: 'enable' });
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'endpoint.enable' });
    const removed = await followed(browser, one, { act: 'remove' });
    expect(removed.text).toContain('There are no endpoints.');
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'endpoint.remove' });
  });

  it('create clients, change them, and rotate their secrets', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    await kit.provider.partner('kafe');
    const created = await followed(browser, '/new-client', {
      ...{ act: 'create', clientId: 'app', name: 'App', partner: 'kafe', 'scope openid': 'on' },
      ...{ redirectUris: 'https://app.example/a\r\nhttps://app.example/b', requirePkce: 'on' },
      ...{ defaultScope: ' openid ', refreshWithoutOfflineAccess: 'on' },
    });
    const secret = codeIn(created.text, /<code[^>]*>(svc_cs_[^<]+|svc_[^<]+)</);
    expect(secret.length).toBeGreaterThan(20);
    expect(await kit.admin.clients.get('app')).toMatchObject({
      ...{ name: 'App', partner: 'kafe', allowedScopes: ['openid'], requirePkce: true, public: false },
      ...{ redirectUris: ['https://app.example/a', 'https://app.example/b'], requireSecret: false },
      ...{ defaultScope: 'openid', refreshWithoutOfflineAccess: true },
    });
    expect(await kit.lastAct()).toMatchObject({
      actor: 'ana',
      action: 'client.create',
      target: 'client:app',
    });
    await kit.admin.clients.update('app', { firstParty: true });
    const settings = {
      ...{ act: 'update', name: 'Other', partner: '', 'scope openid': 'on', firstParty: 'on' },
      ...{ redirectUris: 'https://app.example/a', requirePkce: 'on', idTokenAlg: 'ES256' },
      refreshWithoutOfflineAccess: 'on',
    };
    const changed = await followed(browser, '/clients/app', settings);
    expect(changed.text).toContain('The changes are saved.');
    expect(changed.text).not.toContain(secret);
    // Unchanged values are not part of the audited act.
    expect(await kit.lastAct()).toEqual({
      ...{ actor: 'ana', role: null, action: 'client.update', target: 'client:app' },
      details: {
        ...{ name: 'Other', partner: null, redirectUris: ['https://app.example/a'], idTokenAlg: 'ES256' },
        defaultScope: null,
        before: {
          ...{ name: 'App', partner: 'kafe', idTokenAlg: 'RS256', defaultScope: 'openid' },
          redirectUris: ['https://app.example/a', 'https://app.example/b'],
        },
      },
    });
    const acts = await kit.acts();
    expect((await submit(browser, '/clients/app', settings)).status).toBe(303);
    expect(await kit.acts()).toBe(acts);
    const rotated = await followed(browser, '/clients/app', { act: 'rotate', overlapSeconds: '90' });
    expect(rotated.text).toContain('It is shown this once');
    expect(rotated.text).not.toContain(secret);
    expect(await kit.lastAct()).toMatchObject({
      action: 'client.rotate_secret',
      details: { overlapSeconds: 90 },
    });
    expect((await followed(browser, '/clients/app', { act: 'disable' })).text).toContain(
      'Enable this client',
    );
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'client.disable' });
    await submit(browser, '/clients/app', { act: 'enable' });
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'client.enable' });
    const isPublic = await submit(browser, '/new-client', {
      ...{ act: 'create', clientId: 'spa', name: 'Spa', 'scope openid': 'on', public: 'on' },
      redirectUris: 'https://spa.example/',
    });
    expect(target(isPublic)).toBe('/operators/clients/spa?notice=created');
    expect((await browser.get('/operators/clients/spa')).text).not.toContain('Issue another secret');
    expect((await browser.get('/operators/clients/nobody')).status).toBe(404);
    expect((await submit(browser, '/partners', { act: 'disable' }, '/clients/nobody')).status).toBe(404);
  });

  it('show the audit log, and verify its chain', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    await kit.admin.as('bob').partners.create({ slug: 'kafe', name: 'Kafe' });
    kit.provider.clock.advance(1_000);
    await kit.admin.as('eva').partners.create({ slug: 'till', name: 'Till' });
    const { text } = await browser.get('/operators/audit');
    expect(text.indexOf('eva')).toBeGreaterThan(0);
    expect(text.indexOf('eva')).toBeLessThan(text.indexOf('bob'));
    const narrow = (await browser.get('/operators/audit?target=partner:kafe')).text;
    expect([narrow.includes('bob'), narrow.includes('eva')]).toEqual([true, false]);
    const acts = await kit.acts();
    const post = (head: string) => submit(browser, '/clients/none', { act: 'verify', head }, '/audit');
    const verify = (head: string) => submit(browser, '/audit', { act: 'verify', head });
    expect((await post('')).status).toBe(403);
    const whole = await verify('');
    expect(whole.text).toContain('The chain is whole.');
    const head = codeIn(whole.text, /<code>([0-9a-f]{64})</);
    expect((await verify(head)).text).toContain('The chain is whole.');
    expect((await verify('f'.repeat(64))).text).toContain('The audit log is not as it was written.');
    const refused = await verify('"><script>');
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(
      /value="&quot;&gt;&lt;script&gt;"[^>]*name="head" aria-invalid="true"[^>]*autofocus/,
    );
    expect(await kit.acts()).toBe(acts);
    expect((await browser.get('/operators/audit?after=nowhere')).status).toBe(400);
  });

  it('rotate signing keys, end access, remove old rows and seal secrets with a new key', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const rotated = await followed(browser, '/signing-keys', {
      ...{ act: 'rotate', alg: 'ES256', activateAfterSeconds: '0' },
    });
    expect(rotated.text).toContain('The new key is published.');
    expect(await kit.lastAct()).toMatchObject({
      ...{ actor: 'ana', action: 'signing_key.rotate', details: { alg: 'ES256', activateAfterSeconds: 0 } },
    });
    const client = await kit.provider.client();
    const token = await kit.provider.token(client);
    expect(await kit.provider.isAlive(token)).toBe(true);
    const sub = (await kit.provider.userinfo(token)).json().sub;
    const pageOf = (id: string) => `/user?sub=${encodeURIComponent(id)}`;
    await submit(browser, pageOf(String(sub)), { act: 'end' });
    expect(await kit.provider.isAlive(token)).toBe(false);
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'user.end', target: `user:${sub}` });
    for (const odd of [' at both ends ', ' ', 'auth0|5f%2F', 'a+b@example.com']) {
      await submit(browser, pageOf(odd), { act: 'end' });
      expect(await kit.lastAct()).toMatchObject({ action: 'user.end', target: `user:${odd}` });
    }
    expect((await browser.get('/operators/user?sub=')).status).toBe(404);
    expect((await followed(browser, '/upkeep', { act: 'purge' })).text).toContain('Old rows are removed.');
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'storage.purge' });
    expect((await followed(browser, '/upkeep', { act: 'reseal' })).text).toContain('All secrets are sealed');
    expect(await kit.lastAct()).toMatchObject({ actor: 'ana', action: 'storage.reseal' });
  });

  it('refuse unknown actions, and do nothing', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const { partner, id } = await kit.key();
    await kit.provider.client({ clientId: 'app' });
    const acts = await kit.acts();
    for (const path of [
      ...['/audit', '/signing-keys', '/upkeep', `/partners/${partner}`, '/clients/app', '/user?sub=u-1'],
    ]) {
      for (const act of ['explode', 'constructor', '__proto__', ''])
        expect.soft([path, act, (await submit(browser, path, { act })).status]).toEqual([path, act, 400]);
    }
    expect((await submit(browser, `/partners/${partner}/keys/${id}`, { act: 'explode' })).status).toBe(400);
    expect(await kit.acts()).toBe(acts);
  });
});
