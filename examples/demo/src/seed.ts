import { randomBytes, randomInt } from 'node:crypto';
import { OstiaryPartner } from '@ostiary/client-sdk';
import { redirectUris, type WebhookMode, webhookModes, webhookUrls } from '@ostiary/partner-app';
import { ConfigError, type Installation, type NewUser } from '@ostiary/reference-server';
import type { DemoApiKey, DemoClient, DemoUser, DemoWebhook, Seeded } from './demo-file.ts';

/** Slug (short name) of the partner that runs the shop. */
const demoPartner = 'kafe-lakay';

type Person = Omit<NewUser, 'password'>;

/** Demo users, one for each state of the identity check. */
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

const keyScopes = [
  ...(['identity:verify', 'payments:write', 'payments:read', 'users:read'] as const),
  ...(['webhooks', 'reconciliation:read'] as const),
];

/** Generates a password of 15 out of 31 characters that are easy to read and type: 74 bits. */
function newPassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group()].join('-');
}

/** Returns the registrations of the shop's clients. */
function clientsOf(partnerUrl: string) {
  const uris = redirectUris(partnerUrl);
  return [
    { clientId: demoPartner, name: 'Kafe Lakay', redirectUris: [uris.confidential], public: false },
    {
      clientId: 'kafe-lakay-public',
      name: 'Kafe Lakay (public client)',
      redirectUris: [uris.public, uris.spa],
      public: true,
    },
  ];
}

async function issueKey({ ostiary }: Installation, mode: WebhookMode): Promise<DemoApiKey> {
  const wanted = { partner: demoPartner, mode, name: `npm start (${mode})`, scopes: keyScopes };
  const { apiKey, key, signingSecret } = await ostiary.admin.apiKeys.issue(wanted);
  return { id: apiKey.id, mode, key, scopes: [...apiKey.scopes], partner: demoPartner, signingSecret };
}

/** Creates the owner of the pages for operators. */
async function makeOperator({ staff }: Installation): Promise<Seeded['operator']> {
  const [email, password] = ['owner@example.com', newPassword()];
  const link = await staff.invite(email, 'owner');
  await staff.setPassword(link, password, null);
  return { email, password };
}

/** Creates what an administrator would create: partner, funds, keys, users, clients and an operator. */
async function provision(installation: Installation, partnerUrl: string): Promise<Omit<Seeded, 'webhooks'>> {
  const { accounts, ledger, ostiary } = installation;
  await ostiary.admin.partners.create({ slug: demoPartner, name: 'Kafe Lakay' });
  await ledger.fund(demoPartner, '100000.00', 'HTG');
  await ledger.fund(demoPartner, '1000.00', 'USD');
  const apiKeys: DemoApiKey[] = [];
  for (const mode of webhookModes) apiKeys.push(await issueKey(installation, mode));
  const users: DemoUser[] = [];
  for (const person of people) {
    const password = newPassword();
    const { handle, sub, kid, phone } = await accounts.create({ ...person, password });
    users.push({ handle, password, sub, kid, phone });
  }
  const clients: DemoClient[] = [];
  for (const wanted of clientsOf(partnerUrl)) {
    const created = await ostiary.admin.clients.create({ ...wanted, partner: demoPartner, allowedScopes });
    const { clientId, redirectUris } = wanted;
    clients.push({ clientId, clientSecret: created.clientSecret, redirectUris, allowedScopes });
  }
  return { users, clients, apiKeys, operator: await makeOperator(installation) };
}

/** Settings of the demo that the seeded data depends on. */
interface SeedOptions {
  readonly prefix: string;
  /** URL at which this process calls the partner API. */
  readonly apiOrigin: string;
  readonly partnerUrl: string;
}

const webhooksOf = ({ key }: DemoApiKey, { apiOrigin }: SeedOptions) =>
  new OstiaryPartner({ apiKey: key, baseUrl: apiOrigin, timeout: 10_000 }).webhooks;

/**
 * Creates all demo data, and registers the shop's webhook endpoints through the partner API, as the shop
 * itself would.
 */
async function make(installation: Installation, options: SeedOptions): Promise<Seeded> {
  const made = await provision(installation, options.partnerUrl);
  const webhooks: DemoWebhook[] = [];
  for (const apiKey of made.apiKeys) {
    const { mode } = apiKey;
    const url = webhookUrls(options.partnerUrl)[mode];
    const secret = randomBytes(32).toString('base64url');
    const { id } = await webhooksOf(apiKey, options).create({ url, events: ['*'], secret });
    webhooks.push({ mode, url, secret, id });
  }
  return { ...made, webhooks };
}

/** Adapts existing demo data to a changed prefix or PARTNER_PORT. */
async function adapt(installation: Installation, known: Seeded, options: SeedOptions): Promise<Seeded> {
  const { prefix, partnerUrl } = options;
  const apiKeys: DemoApiKey[] = [];
  for (const apiKey of known.apiKeys)
    apiKeys.push(apiKey.key.startsWith(`${prefix}_`) ? apiKey : await issueKey(installation, apiKey.mode));
  const urls = webhookUrls(partnerUrl);
  if (known.webhooks.every(({ mode, url }) => url === urls[mode])) return { ...known, apiKeys };
  const clients: DemoClient[] = [];
  for (const { clientId, redirectUris } of clientsOf(partnerUrl)) {
    await installation.ostiary.admin.clients.update(clientId, { redirectUris });
    const before = known.clients.filter((client) => client.clientId === clientId);
    clients.push(...before.map((client) => ({ ...client, redirectUris })));
  }
  const webhooks: DemoWebhook[] = [];
  for (const webhook of known.webhooks) {
    const url = urls[webhook.mode];
    const ofMode = apiKeys.filter(({ mode }) => mode === webhook.mode);
    for (const apiKey of ofMode) await webhooksOf(apiKey, options).update(webhook.id, { url });
    webhooks.push({ ...webhook, url });
  }
  return { ...known, apiKeys, clients, webhooks };
}

/**
 * Creates the data of the demo on the first start, and keeps it on later starts.
 *
 * @throws {@link ConfigError} if the data exists, but its passwords and secrets are lost
 */
export async function seed(
  installation: Installation,
  known: Seeded | null,
  options: SeedOptions,
): Promise<Seeded> {
  if ((await installation.ostiary.admin.partners.get(demoPartner)) === null)
    return make(installation, options);
  if (known !== null) return adapt(installation, known, options);
  throw new ConfigError(
    'the data of the demo are there, but not its demo.json: remove the folder (.data, unless OSTIARY_DATA_DIR says otherwise), and start again',
  );
}
