import type { WebhookEndpoint } from '@ostiary/core/console';
import type { SandboxUser } from '../api.ts';
import type { Visit } from '../visit.ts';

/** Data that the page "Test tools" shows. */
export interface ToolsData {
  /** Scopes of the session's API key. */
  readonly scopes: readonly string[];
  readonly users: readonly SandboxUser[];
  readonly endpoints: readonly WebhookEndpoint[];
}

export async function readToolsData({ api }: Visit): Promise<ToolsData> {
  const { key } = await api('whoami');
  const { data: users } = await api('listSandboxUsers');
  const { data: endpoints } = await api('listWebhooks');
  return { scopes: key.scopes, users, endpoints: endpoints.filter(({ enabled }) => enabled) };
}

/** Makes the options of a drop-down list of sandbox users. */
export const userOptions = (users: readonly SandboxUser[]) =>
  users.map(({ kid, name }) => [kid, `${name} (${kid})`] as const);
