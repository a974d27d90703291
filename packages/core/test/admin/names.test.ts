import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';

const storage = memoryStorage();
const { provider } = await partnerProvider({ storage });

const settings = { redirectUris: ['https://app.example/'], allowedScopes: ['openid'] };

/** Returns all administrative calls that set a name. */
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
    // Control characters, invisible characters, characters that reverse the direction of text, and lone
    // surrogates.
    ...[0x0a, 0x1b, 0x7f, 0x85, 0xad, 0x061c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e],
    ...[0x2060, 0x2066, 0x2069, 0xd800, 0xfeff],
    // Letters and signs without a visible form: fillers of Hangul, vowels of Khmer, a blank of Braille.
    ...[0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0],
  ])('refuses U+%d, and names it', async (code) => {
    const name = `Bank${String.fromCharCode(code)}moc`;
    const named = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    const message = `must not contain control, invisible or direction characters (${named})`;
    for (const [way, give] of await ways())
      await expect(give(name), way).rejects.toSatisfy(
        (error) => error instanceof TypeError && error.message.includes(message),
      );
  });

  it.each(['\u200d', '\u200c \u200d'])('refuses %j, which shows nothing', async (name) => {
    for (const [way, give] of await ways()) {
      await expect(give(name), way).rejects.toThrow('must contain a letter, a digit or a sign');
    }
  });

  it.each([
    ...['Kafe Lakay & Pitit, S.A.', 'Banque Générale d’Haïti', 'بانک می\u200cخواهم', 'क्\u200dष', 'שלום'],
    ...['⠃⠁⠝⠅', '한국은행', 'ភាសា'],
    ...['家族 👩\u200d👩\u200d👧', '™'],
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
