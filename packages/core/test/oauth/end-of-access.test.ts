import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, everything, giveAccess, leftOf } from '../support/access.ts';
import { answerConsent, openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

const access = (sub: string, client: TestClient): Promise<Access> => giveAccess(provider, sub, client);
const left = (given: Access): Promise<string[]> => leftOf(provider, given);

/** Ana and Ben, each with two clients. */
async function world() {
  const [one, two] = [await provider.client(), await provider.client()];
  return {
    one,
    anaOne: await access(ana.sub, one),
    anaTwo: await access(ana.sub, two),
    benOne: await access(ben.sub, one),
    benTwo: await access(ben.sub, two),
  };
}

async function revokeApp(sub: string, client: TestClient) {
  const browser = provider.browser(sub);
  const { text } = await browser.get('/account/apps');
  const form = text.split('<form').find((part) => part.includes(`/account/apps/${client.id}/revoke`)) ?? '';
  const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
  return browser.post(`/account/apps/${client.id}/revoke`, { csrf });
}

describe('the end of access', () => {
  it('does not come by itself', async () => {
    const { anaOne, anaTwo, benOne, benTwo } = await world();
    for (const one of [anaOne, anaTwo, benOne, benTwo]) expect(await left(one)).toEqual(everything);
  });

  it('of a revoked token is that token alone', async () => {
    const { anaOne, anaTwo, benOne } = await world();
    await provider.call('/v1/oauth/revoke', { token: anaOne.token });
    expect(await left(anaOne)).toEqual(['sibling', 'consent', 'code']);
    for (const one of [anaTwo, benOne]) expect(await left(one)).toEqual(everything);
  });

  it('of a connected app is everything of that user and client', async () => {
    const { one, anaOne, anaTwo, benOne, benTwo } = await world();
    const answer = await revokeApp(ana.sub, one);
    expect([answer.status, answer.location]).toEqual([303, `${provider.origin}/account/apps?notice=revoked`]);
    expect(await left(anaOne)).toEqual([]);
    for (const other of [anaTwo, benOne, benTwo]) expect(await left(other)).toEqual(everything);
  });

  it('of a disabled client is everything of that client; enabling it brings nothing back', async () => {
    const { one, anaOne, anaTwo, benOne, benTwo } = await world();
    await provider.ostiary.admin.clients.disable(one.id);
    for (const gone of [anaOne, benOne]) {
      expect((await provider.userinfo(gone.token)).json().error).toBe('invalid_token');
      expect((await provider.exchange(one, gone.code)).json().error).toBe('invalid_client');
    }
    await provider.ostiary.admin.clients.enable(one.id);
    for (const gone of [anaOne, benOne]) expect(await left(gone)).toEqual([]);
    for (const other of [anaTwo, benTwo]) expect(await left(other)).toEqual(everything);
  });

  it('of a user is everything of that user', async () => {
    const { anaOne, anaTwo, benOne, benTwo } = await world();
    await provider.ostiary.users.end(ana.sub);
    for (const gone of [anaOne, anaTwo]) expect(await left(gone)).toEqual([]);
    for (const other of [benOne, benTwo]) expect(await left(other)).toEqual(everything);
    await provider.ostiary.users.end('nobody');
  });

  it('says invalid_token and invalid_grant, and nothing more', async () => {
    const client = await provider.client();
    const gone = await access(ana.sub, client);
    await provider.ostiary.users.end(ana.sub);
    const userinfo = await provider.userinfo(gone.token);
    expect([userinfo.status, userinfo.json().error]).toEqual([401, 'invalid_token']);
    const exchange = await provider.exchange(client, gone.code);
    expect([exchange.status, exchange.json().error]).toEqual([400, 'invalid_grant']);
  });
});

describe('an interaction under way', () => {
  it('ends when the client is disabled: before it is shown, answered or resumed', async () => {
    for (const moment of ['shown', 'answered', 'resumed']) {
      const client = await provider.client();
      const browser = provider.browser();
      const page = await openConsent(provider, client, {}, browser);
      const form = { csrf: page.csrf, decision: 'approve' };
      const approved = moment === 'resumed' ? await browser.post(page.address, form) : null;
      await provider.ostiary.admin.clients.disable(client.id);
      const answer =
        moment === 'shown'
          ? await browser.get(page.address)
          : moment === 'answered'
            ? await browser.post(page.address, form)
            : await browser.get(approved?.location ?? '');
      expect([moment, answer.status, answer.location]).toEqual([moment, 401, null]);
      expect(answer.text).toContain('invalid_client');
    }
  });

  it('gives nothing when the app is revoked, or the user ended, between the answer and the way back', async () => {
    for (const end of [
      (client: TestClient) => revokeApp(ana.sub, client),
      () => provider.ostiary.users.end(ana.sub),
    ]) {
      const client = await provider.client();
      const browser = provider.browser();
      const page = await openConsent(provider, client, {}, browser);
      const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
      await end(client);
      const resumed = await browser.get(approved.location ?? '');
      expect(resumed.location).toContain('/oauth/interaction/');
      const again = await openConsent(provider, client, {}, browser);
      expect((await answerConsent(provider, browser, again)).location).toContain('code=');
    }
  });

  it('goes on after a token was revoked', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    const token = await provider.token(client, 'openid', browser);
    const page = await openConsent(provider, client, { scope: 'openid kyc' }, browser);
    await provider.call('/v1/oauth/revoke', { token });
    expect((await answerConsent(provider, browser, page)).location).toContain('code=');
  });
});

describe('several providers on one storage', () => {
  it('see the end of access with the next request', async () => {
    const { fragileStorage } = await import('../support/fragile-storage.ts');
    const { storage } = fragileStorage();
    const sealingKeys = [new Uint8Array(32).fill(1)];
    const first = await TestProvider.start({ storage, sealingKeys });
    const second = await TestProvider.start({ storage, sealingKeys, clock: first.clock }, first.host);
    const client = await first.client();
    const token = await first.token(client);
    const code = await first.code(client);
    expect((await second.userinfo(token)).status).toBe(200);
    await first.ostiary.admin.clients.disable(client.id);
    expect((await second.userinfo(token)).status).toBe(401);
    expect((await second.exchange(client, code)).json().error).toBe('invalid_client');
    expect((await second.browser().get(second.authorizeUrl(client))).status).toBe(401);
    await Promise.all([first.stop(), second.stop()]);
  });
});
