import { createServer, type RequestListener } from 'node:http';
import { createOstiary, type OstiaryOptions } from '@ostiary/core';
import { createLogin } from './login.ts';
import { mcpEndpoint } from './mcp.ts';
import { readScope, writeScope } from './tools.ts';

const scopes = {
  [readScope]: { consent: { en: { title: 'Read your notes', detail: 'All notes that you have written.' } } },
  [writeScope]: { consent: { en: { title: 'Write notes', detail: 'It can add notes in your name.' } } },
};

/** Settings that differ between this example and its tests. */
export interface Settings extends Pick<OstiaryOptions, 'storage' | 'sealingKeys'> {
  /** Origin of the example: the authorization server and, at `/mcp`, the MCP server. */
  readonly site: string;
  /** True to accept clients with metadata documents at private addresses too, such as apps on this machine. */
  readonly allowPrivateDocuments?: boolean;
}

/** Opens the example: Ostiary, and an MCP server that Ostiary protects. */
export async function openNotes({ site, allowPrivateDocuments = false, ...given }: Settings) {
  const { users, login, loginPage } = createLogin(site);
  const url = `${site}/mcp`;
  const ostiary = await createOstiary({
    ...given,
    authUrl: site,
    ...{ users, login, scopes },
    languages: ['en'],
    refreshTokens: {},
    resources: { [url]: { name: 'Notes', scopes: [readScope, writeScope] } },
    clientMetadataDocuments: {
      scopes: ['openid', 'offline_access', readScope, writeScope],
      allowPrivateDocuments,
    },
  });
  const resource = ostiary.protectedResource({ resource: url, scopes: [readScope] });
  const mcp = mcpEndpoint(resource, new Map());

  const listener: RequestListener = (request, response) => {
    const document = resource.metadataAnswer(request);
    if (document !== null) {
      response.writeHead(document.status, document.headers).end(document.body);
      return;
    }
    const pathname = URL.parse(request.url ?? '/', site)?.pathname;
    const own = pathname === '/mcp' ? mcp : pathname === '/login' ? loginPage : null;
    if (own === null) ostiary.handler(request, response);
    else
      own(request, response).catch(() => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
  };
  return { ostiary, server: createServer(listener) };
}
