import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CommandUsageError } from '../src/command.ts';
import { download } from '../src/download.ts';

async function serve(listener: RequestListener) {
  const requests = vi.fn(listener);
  const server = createServer(requests).listen(0, '127.0.0.1');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { requests, port: (server.address() as AddressInfo).port };
}

const local = { policy: { allowPrivate: true }, maxBytes: 65_536 };

describe('a download', () => {
  it('is the file with all its bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index % 251));
    const { port } = await serve((_request, response) => void response.end(bytes));
    const file = await download(`http://127.0.0.1:${port}/logo.png?v=1`, local);
    expect(Buffer.from(file).equals(bytes)).toBe(true);
  });

  it.each(['http://127.0.0.1:', 'https://127.0.0.1:', 'https://localhost:', 'https://[::ffff:127.0.0.1]:'])(
    'from %s… is refused, and nothing is connected to',
    async (origin) => {
      const { port, requests } = await serve((_request, response) => void response.end());
      const refused = download(`${origin}${port}/logo.png`, { maxBytes: 65_536 });
      await expect(refused).rejects.toThrow(CommandUsageError);
      expect(requests).not.toHaveBeenCalled();
    },
  );

  it('follows no redirect', async () => {
    const inside = await serve((_request, response) => void response.end('secret'));
    const { port } = await serve((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end(),
    );
    await expect(download(`http://127.0.0.1:${port}/`, local)).rejects.toThrow(
      'answered 302; redirects are not followed',
    );
    expect(inside.requests).not.toHaveBeenCalled();
  });

  it('that is too large is refused with the first byte too many', async () => {
    let sent = 0;
    const { port } = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    await expect(download(`http://127.0.0.1:${port}/`, local)).rejects.toThrow('is larger than 64 KiB');
    expect(sent).toBeLessThan(50_000_000);
  });

  it('that does not end, or does not begin, is aborted', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/slow') response.write('a');
    });
    for (const path of ['/slow', '/silent'])
      await expect(download(`http://127.0.0.1:${port}${path}`, { ...local, timeoutMs: 300 })).rejects.toThrow(
        'no response within 0.3 s',
      );
  });
});
