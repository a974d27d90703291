import { memoryStorage } from '@ostiary/testing/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestRail } from '../support/partner-api.ts';
import { TestProvider } from '../support/provider.ts';

const storage = memoryStorage();
let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ storage, payments: new TestRail() });
});
afterAll(() => provider.stop());

const settings = { redirectUris: ['https://app.example/'], allowedScopes: ['openid'] };

/** Every way in which an administrator gives a name. */
async function ways(): Promise<readonly (readonly [string, (name: string) => Promise<unknown>])[]> {
  const { clients, partners, apiKeys } = provider.ostiary.admin;
  const { client } = await clients.create({ ...settings, name: 'A client' });
  const partner = await provider.partner();
  return [
    ['clients.create', (name) => clients.create({ ...settings, name })],
    ['clients.update', (name) => clients.update(client.clientId, { name })],
    [
      'partners.create',
      (name) => partners.create({ slug: `p-${Math.random().toString(36).slice(2)}`, name }),
    ],
    ['partners.rename', (name) => partners.rename(partner, name)],
    ['apiKeys.issue', (name) => apiKeys.issue({ partner, mode: 'test', scopes: ['webhooks'], name })],
  ];
}

describe('the name of a client, a partner and a key', () => {
  it.each([
    ['a line feed', 0x0a],
    ['an escape', 0x1b],
    ['DEL', 0x7f],
    ['a control of C1', 0x85],
    ['a soft hyphen', 0xad],
    ['an Arabic letter mark', 0x061c],
    ['a zero width space', 0x200b],
    ['a left-to-right mark', 0x200e],
    ['a right-to-left mark', 0x200f],
    ['a line separator', 0x2028],
    ['a paragraph separator', 0x2029],
    ['an embedding', 0x202a],
    ['an override', 0x202e],
    ['a word joiner', 0x2060],
    ['an isolate', 0x2066],
    ['the end of an isolate', 0x2069],
    ['half a character', 0xd800],
    ['a byte order mark', 0xfeff],
  ])('refuses %s, and names it', async (_name, code) => {
    const character = String.fromCharCode(code);
    const named = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    for (const [way, give] of await ways()) {
      await expect(give(`Bank${character}moc`), way).rejects.toThrow(TypeError);
      await expect(give(`Bank${character}moc`), way).rejects.toThrow(
        `must not contain control, invisible or direction characters (${named})`,
      );
    }
  });

  it.each(['\u200d', '\u200c \u200d'])('refuses %j, which shows nothing', async (name) => {
    for (const [way, give] of await ways()) {
      await expect(give(name), way).rejects.toThrow('must contain a letter, a digit or a sign');
    }
  });

  it.each([
    'Kafe Lakay & Pitit, S.A.',
    'Banque Générale d’Haïti',
    'بانک می\u200cخواهم',
    'क्\u200dष',
    'שלום',
    '家族 👩\u200d👩\u200d👧',
    '™',
  ])('may be %j', async (name) => {
    for (const [way, give] of await ways()) await expect(give(name), way).resolves.toBeDefined();
  });

  it('stays as it is where it was stored before', async () => {
    const { client } = await provider.ostiary.admin.clients.create({ ...settings, name: 'Old' });
    const record = await storage.clients.find(client.clientId);
    if (record === null) throw new Error('no client');
    const old = { ...record, name: 'Old\u202eegnaro', version: record.version + 1 };
    await storage.clients.replace(old);
    const updated = await provider.ostiary.admin.clients.update(client.clientId, { firstParty: true });
    expect(updated).toMatchObject({ name: old.name, firstParty: true });
  });
});
