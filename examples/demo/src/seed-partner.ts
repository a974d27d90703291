import { randomBytes } from 'node:crypto';
import { OstiaryPartner, type WebhookEndpoint } from '@ostiary/client-sdk';
import { type WebhookMode, webhookModes, webhookUrls } from '@ostiary/partner-app';
import type { Installation } from '@ostiary/reference-server';
import type { DemoApiKey, DemoWebhook } from './demo-file.ts';

/** The shop, as the partner API knows it. */
export const demoPartner = 'kafe-lakay';

const scopes = [
  ...(['identity:verify', 'payments:write', 'payments:read', 'users:read'] as const),
  ...(['webhooks', 'reconciliation:read'] as const),
];

/** Minor units that the shop starts with, and below which it is funded again. */
const stock = {
  HTG: { amount: '100000.00', low: 100_000n },
  USD: { amount: '1000.00', low: 10_000n },
} as const;

async function seedApiKey(
  { ostiary, now }: Installation,
  prefix: string,
  mode: WebhookMode,
  known: DemoApiKey | undefined,
): Promise<DemoApiKey> {
  const { apiKeys } = ostiary.admin;
  const stored = (await apiKeys.list(demoPartner)).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now()),
  );
  // A key of another prefix is refused by this server.
  const isUsable = known?.key.startsWith(`${prefix}_${mode}_`) === true;
  if (known !== undefined && isUsable && stored.some(({ id }) => id === known.id)) return known;
  const name = `npm start (${mode})`;
  // Keys of a file that was lost: nobody knows them any more.
  for (const lost of stored) if (lost.name === name) await apiKeys.revoke(lost.id);
  const issued = await apiKeys.issue({ partner: demoPartner, mode, name, scopes });
  const { apiKey, key, signingSecret } = issued;
  return { id: apiKey.id, mode, key, scopes: [...apiKey.scopes], partner: demoPartner, signingSecret };
}

/** Creates the partner, its keys and its funds, where they are missing. */
export async function seedPartner(
  installation: Installation,
  prefix: string,
  known: readonly DemoApiKey[],
): Promise<DemoApiKey[]> {
  const { ostiary, ledger } = installation;
  if ((await ostiary.admin.partners.get(demoPartner)) === null)
    await ostiary.admin.partners.create({ slug: demoPartner, name: 'Kafe Lakay' });
  for (const currency of ['HTG', 'USD'] as const) {
    const { amount, low } = stock[currency];
    if ((await ledger.funds(demoPartner))[currency] < low) await ledger.fund(demoPartner, amount, currency);
  }
  const apiKeys: DemoApiKey[] = [];
  for (const mode of webhookModes) {
    const before = known.find((key) => key.mode === mode && key.partner === demoPartner);
    apiKeys.push(await seedApiKey(installation, prefix, mode, before));
  }
  return apiKeys;
}

/** Registers the endpoint of the shop for the mode of a key, where it is missing, as the shop itself would do it. */
export async function seedWebhook(
  { key, mode }: DemoApiKey,
  { apiOrigin, partnerUrl }: { readonly apiOrigin: string; readonly partnerUrl: string },
  known: DemoWebhook | undefined,
): Promise<DemoWebhook> {
  const { webhooks } = new OstiaryPartner({ apiKey: key, baseUrl: apiOrigin, timeout: 10_000 });
  const url = webhookUrls(partnerUrl)[mode];
  const endpoints: WebhookEndpoint[] = [];
  for await (const endpoint of webhooks.list()) endpoints.push(endpoint);
  const kept = endpoints.find(({ id }) => id === known?.id);
  if (known !== undefined && kept !== undefined) {
    // Another PARTNER_PORT gives another address.
    if (kept.url !== url) await webhooks.update(kept.id, { url });
    return { ...known, url };
  }
  const secret = randomBytes(32).toString('base64url');
  // The secret of a file that was lost: nobody knows it any more.
  const lost = endpoints.find((endpoint) => endpoint.url === url);
  const { id } = await (lost === undefined
    ? webhooks.create({ url, events: ['*'], secret })
    : webhooks.update(lost.id, { secret }));
  return { mode, url, secret, id };
}
