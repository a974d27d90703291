import { randomInt } from 'node:crypto';
import { redirectUris as redirectUrisOf } from '@ostiary/partner-app';
import type { Installation, NewUser } from '@ostiary/reference-server';
import type { DemoClient, DemoUser, DemoWebhook, Seeded } from './demo-file.ts';
import { demoPartner, seedPartner, seedWebhook } from './seed-partner.ts';

type Person = Omit<NewUser, 'password'>;

/** One user for every state of the identity check. */
const people: readonly Person[] = [
  {
    handle: 'anaika',
    name: 'Anaïka Pierre',
    phone: '+50937000001',
    role: 'member',
    kycStatus: 'approved',
    kycTier: 3,
    htgBalance: '48250.75',
    usdBalance: '320.10',
    trustScore: 92,
    trustTier: 'gold',
    credentials: [
      { type: 'national_id', issuedAt: new Date('2025-02-11T14:20:00Z') },
      {
        type: 'proof_of_address',
        issuedAt: new Date('2025-03-02T09:05:00Z'),
        expiresAt: new Date('2036-03-02T00:00:00Z'),
      },
    ],
  },
  {
    handle: 'jean.robert',
    name: 'Jean-Robert Désir',
    phone: '+50937000002',
    role: 'merchant',
    kycStatus: 'pending',
    kycTier: 1,
    htgBalance: '1250.00',
    usdBalance: '0.00',
    trustScore: 48,
    trustTier: 'silver',
    credentials: [{ type: 'national_id', issuedAt: new Date('2025-10-30T16:45:00Z') }],
  },
  {
    handle: 'mirlande',
    name: 'Mirlande Joseph',
    phone: '+50937000003',
    role: 'member',
    kycStatus: 'rejected',
    kycTier: 0,
    htgBalance: '0.05',
    usdBalance: '0.00',
    trustScore: 12,
    trustTier: 'new',
  },
];

const allowedScopes = ['openid', 'profile', 'kyc', 'wallet:balance', 'identity'];

/** 15 characters out of 31, easy to read and to type: 74 bits. */
function newPassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group()].join('-');
}

async function seedUser(
  { accounts }: Installation,
  person: Person,
  known: DemoUser | undefined,
): Promise<DemoUser> {
  const existing = await accounts.get(person.handle);
  if (existing !== null && known?.sub === existing.sub) return known;
  const password = newPassword();
  // A start that was interrupted leaves users behind whose passwords nobody knows.
  const { handle, sub, kid, phone } = await (existing === null
    ? accounts.create({ ...person, password })
    : accounts.setPassword(person.handle, password));
  return { handle, password, sub, kid, phone };
}

interface WantedClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: string[];
  readonly public: boolean;
}

async function seedClient(
  { ostiary: { admin } }: Installation,
  wanted: WantedClient,
  known: DemoClient | undefined,
): Promise<DemoClient> {
  const { clients } = admin;
  const { clientId, redirectUris } = wanted;
  const existing = await clients.get(clientId);
  if (existing === null) {
    const created = await clients.create({ ...wanted, partner: demoPartner, allowedScopes });
    return { clientId, clientSecret: created.clientSecret, redirectUris, allowedScopes };
  }
  // Another PARTNER_PORT gives other addresses, and a demo of the time before the partner API has no partner.
  const isCurrent = existing.redirectUris.join(' ') === redirectUris.join(' ');
  if (!isCurrent || existing.partner !== demoPartner)
    await clients.update(clientId, { redirectUris, partner: demoPartner });
  const clientSecret = wanted.public
    ? null
    : (known?.clientSecret ?? (await clients.rotateSecret(clientId)).clientSecret);
  return { clientId, clientSecret, redirectUris, allowedScopes: [...existing.allowedScopes] };
}

/** Where the demo runs, for what is seeded. */
interface SeedOptions {
  readonly prefix: string;
  /** Where this process reaches the partner API. */
  readonly apiOrigin: string;
  readonly partnerUrl: string;
}

/** Creates partner, keys, users and clients where they are missing; what is there stays as it is. */
export async function seedInstallation(
  installation: Installation,
  known: Seeded | null,
  { prefix, partnerUrl }: Pick<SeedOptions, 'prefix' | 'partnerUrl'>,
): Promise<Omit<Seeded, 'webhooks'>> {
  const apiKeys = await seedPartner(installation, prefix, known?.apiKeys ?? []);
  const users: DemoUser[] = [];
  for (const person of people) {
    const before = known?.users.find(({ handle }) => handle === person.handle);
    users.push(await seedUser(installation, person, before));
  }
  const uris = redirectUrisOf(partnerUrl);
  const shop = {
    clientId: demoPartner,
    name: 'Kafe Lakay',
    redirectUris: [uris.confidential],
    public: false,
  };
  const publicShop = {
    clientId: 'kafe-lakay-public',
    name: 'Kafe Lakay (public client)',
    redirectUris: [uris.public, uris.spa],
    public: true,
  };
  const clients: DemoClient[] = [];
  for (const wanted of [shop, publicShop]) {
    const before = known?.clients.find(({ clientId }) => clientId === wanted.clientId);
    clients.push(await seedClient(installation, wanted, before));
  }
  return { users, clients, apiKeys };
}

/** Creates what the demo needs and does not have yet; what is there stays as it is. */
export async function seed(
  installation: Installation,
  known: Seeded | null,
  options: SeedOptions,
): Promise<Seeded> {
  const seeded = await seedInstallation(installation, known, options);
  const webhooks: DemoWebhook[] = [];
  for (const apiKey of seeded.apiKeys) {
    const before = known?.webhooks.find(({ mode }) => mode === apiKey.mode);
    webhooks.push(await seedWebhook(apiKey, options, before));
  }
  return { ...seeded, webhooks };
}
