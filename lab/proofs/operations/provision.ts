import { randomBytes } from 'node:crypto';
import { Browser } from '../../../examples/demo/src/walkthrough/browser.ts';
import { registerEndpoint } from '../../support/http.ts';
import { administer, type Deployment } from './deployment.ts';
import type { TransferReceiver } from './receiver.ts';

/** What apps and partners were given. A rotation changes it. */
export interface Credentials {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Secrets that work now; apps use one after the other. */
  clientSecrets: readonly string[];
  /** Keys that work now, by the shop that has them: each has a limit of its own. */
  apiKeys: readonly { readonly id: string; readonly keys: readonly string[] }[];
  readonly recipientKid: string;
  /** The user's browser, signed in. */
  readonly browser: Browser;
}

export const partner = 'kafe-lakay';

/** Keys, because one of them may verify only once and pay twice a second. */
const keyCount = 3;

/** A user who is signed in, an app, a partner with money, keys and an endpoint at `receiver`. */
export async function provision(deployment: Deployment, receiver: TransferReceiver): Promise<Credentials> {
  const { authUrl, env } = deployment;
  const password = randomBytes(12).toString('hex');
  const redirectUri = 'https://shop.example/callback';
  const given = await administer(env, async ({ ostiary: { admin }, accounts, ledger }) => {
    const account = await accounts.create({
      handle: 'anaika',
      name: 'Anaïka Pierre',
      phone: '+50937000001',
      password,
    });
    await admin.partners.create({ slug: partner, name: 'Kafe Lakay' });
    await ledger.fund(partner, '1000000.00', 'HTG');
    const { client, clientSecret } = await admin.clients.create({
      name: 'Kafe Lakay',
      redirectUris: [redirectUri],
      allowedScopes: ['openid', 'profile', 'kyc'],
      partner,
    });
    const issued = [];
    for (let index = 0; index < keyCount; index += 1) {
      issued.push(
        await admin.apiKeys.issue({
          partner,
          mode: 'live',
          scopes: ['identity:verify', 'payments:write', 'payments:read', 'webhooks'],
        }),
      );
    }
    return { account, client, clientSecret: clientSecret ?? '', issued };
  });
  const browser = new Browser(() => undefined);
  const page = await browser.open(`${authUrl}/login`);
  const [form] = page.forms;
  if (form === undefined) throw new Error(`no form to sign in with: ${page.status}`);
  const signedIn = await browser.submit(page, form, { handle: 'anaika', password });
  if (signedIn.status !== 303) throw new Error(`not signed in: ${signedIn.status}`);

  receiver.secret = randomBytes(32).toString('base64url');
  const apiKeys = given.issued.map(({ apiKey, key }) => ({ id: apiKey.id, keys: [key] }));
  await registerEndpoint(authUrl, apiKeys[0]?.keys[0] ?? '', {
    url: `${await receiver.listen()}/`,
    events: ['payment.completed'],
    secret: receiver.secret,
  });
  return {
    clientId: given.client.clientId,
    redirectUri,
    clientSecrets: [given.clientSecret],
    apiKeys,
    recipientKid: given.account.kid,
    browser,
  };
}
