import { onTestFinished } from 'vitest';
import { freePort } from '../../../../lab/support/free-port.ts';
import { openProxy, type ProxyName } from '../../../../lab/support/processes/proxies.ts';

/** Starts a proxy in front of a port. The proxy stops at the end of the test. @returns the proxy's origin */
export async function startProxy(name: ProxyName, target: number): Promise<string> {
  const front = await freePort();
  const proxy = await openProxy(name, { front, webs: [target, target] });
  onTestFinished(() => proxy.close());
  return `http://localhost:${front}`;
}
