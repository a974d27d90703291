import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '../../src/pages/layout.ts';

/** A server that shows pages under the policy that they are made for, and keeps the forms posted to it. */
export interface PagesServer {
  /** The address at which a page is shown. */
  show(page: Page): string;
  readonly posts: { readonly path: string; readonly fields: { readonly [name: string]: string } }[];
  close(): Promise<void>;
}

export async function startPagesServer(): Promise<PagesServer> {
  const pages: Page[] = [];
  const posts: PagesServer['posts'] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      posts.push({ path: request.url ?? '', fields: Object.fromEntries(new URLSearchParams(body)) });
      response.end('received');
      return;
    }
    if (request.url === '/logo.svg') {
      response.setHeader('Content-Type', 'image/svg+xml');
      response.end('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20" width="80" height="20"/>');
      return;
    }
    const page = pages[Number(/^\/page\/([0-9]+)$/.exec(request.url ?? '')?.[1])];
    if (!page) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; style-src ${page.styleHash}; img-src data: 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    response.end(page.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    show: (page) => `http://127.0.0.1:${port}/page/${pages.push(page) - 1}`,
    posts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
