import type { TestClient, TestProvider } from './provider.ts';

/** What one user has given to one client: two tokens, a code that waits, and a consent that is remembered. */
export interface Access {
  readonly sub: string;
  readonly client: TestClient;
  readonly token: string;
  readonly sibling: string;
  readonly code: string;
}

/** Lets a user give a client everything there is. */
export async function giveAccess(provider: TestProvider, sub: string, client: TestClient): Promise<Access> {
  const browser = provider.browser(sub);
  const token = await provider.token(client, 'openid', browser);
  const sibling = await provider.token(client, 'openid', browser);
  return { sub, client, token, sibling, code: await provider.code(client, {}, browser) };
}

/** What `leftOf` answers as long as nothing has ended. */
export const everything = ['token', 'sibling', 'consent', 'code'];

/** What is left of an access. The code comes last, because looking at it spends it. */
export async function leftOf(
  provider: TestProvider,
  { sub, client, token, sibling, code }: Access,
): Promise<string[]> {
  const alive: string[] = [];
  if (await provider.isAlive(token)) alive.push('token');
  if (await provider.isAlive(sibling)) alive.push('sibling');
  if ((await provider.attempt(client, { prompt: 'none' }, provider.browser(sub))) === 'code')
    alive.push('consent');
  if ((await provider.redeem(client, code)) === '200 ok') alive.push('code');
  return alive;
}
