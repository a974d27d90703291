import type { WebhookEndpoint } from '@ostiary/core/console';
import type { SandboxUser } from '../api.ts';
import type { Visit } from '../visit.ts';

/** Data of the tools. */
export interface ToolsData {
  /** Properties of the session's key. */
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

/** The sandbox users, for a drop-down list. */
export const userOptions = (users: readonly SandboxUser[]) =>
  users.map(({ kid, name }) => [kid, `${name} (${kid})`] as const);
