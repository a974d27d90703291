import { expect } from 'vitest';
import type { TestClient, TestProvider } from './provider.ts';

/** Path of the pushed authorization request endpoint. */
export const path = '/v1/oauth/par';

type Changes = Readonly<Record<string, string | undefined>>;

/** Returns functions that push authorization requests, by default as one client at one provider. */
export function pushing(provider: TestProvider, app: TestClient) {
  /** Returns the parameters of an authorization request, with the client's secret. */
  const parametersOf = (client: TestClient, changes: Changes = {}) => ({
    response_type: 'code',
    ...{ client_id: client.id, client_secret: client.secret ?? undefined, redirect_uri: client.redirectUri },
    ...{ scope: 'openid', state: 'pushed', ...changes },
  });

  const push = (client = app, changes: Changes = {}, at = provider) =>
    at.call(path, parametersOf(client, changes));

  /** Pushes an authorization request, and returns its request URI. */
  async function pushed(client = app, changes: Changes = {}, at = provider): Promise<string> {
    const answer = await push(client, changes, at);
    expect(answer.status, answer.text).toBe(201);
    return String(answer.json().request_uri);
  }

  return { parametersOf, push, pushed };
}
