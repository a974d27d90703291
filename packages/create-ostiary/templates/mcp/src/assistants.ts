import type { Ostiary, OstiaryOptions } from '@ostiary/core';
import { provisionClient } from './demo-client.ts';
import { authUrl, isPublic } from './settings.ts';

/** URL of the MCP server, which users enter in their assistant. */
export const mcpUrl = new URL('/mcp', authUrl).href;

// REPLACE THESE by the scopes of your own tools.

/** Scopes of the MCP server, with the texts of the consent page in each language. */
export const mcpScopes = {
  'notes:read': {
    consent: {
      en: { title: 'Read your notes', detail: 'All notes that you have written.' },
      fr: { title: 'Lire vos notes', detail: 'Toutes les notes que vous avez écrites.' },
      ht: { title: 'Li nòt ou yo', detail: 'Tout nòt ou te ekri.' },
      es: { title: 'Leer sus notas', detail: 'Todas las notas que ha escrito.' },
      pt: { title: 'Ler suas notas', detail: 'Todas as notas que você escreveu.' },
    },
  },
  'notes:write': {
    consent: {
      en: { title: 'Write notes', detail: 'It can add notes in your name.' },
      fr: { title: 'Écrire des notes', detail: 'Elle peut ajouter des notes en votre nom.' },
      ht: { title: 'Ekri nòt', detail: 'Li ka ajoute nòt sou non ou.' },
      es: { title: 'Escribir notas', detail: 'Puede añadir notas en su nombre.' },
      pt: { title: 'Escrever notas', detail: 'Ele pode adicionar notas em seu nome.' },
    },
  },
} satisfies OstiaryOptions['scopes'];

/** Scopes that every request to the MCP server needs. A tool may need more. */
export const requiredScopes = ['notes:read'] as const;

/**
 * Resources for which apps can request tokens (RFC 8707). A token for the MCP server is valid at the MCP server
 * and at Ostiary's userinfo endpoint, and at no other API.
 */
export const mcpResources = { [mcpUrl]: { name: '{{name}}', scopes: ['notes:read', 'notes:write'] } };

/** Scopes that an assistant may request. */
export const assistantScopes = ['openid', 'offline_access', 'notes:read', 'notes:write'] as const;

/** Creates an OAuth client for assistants on your own machine that ask their user for a client id. */
export async function provisionAssistant(ostiary: Ostiary): Promise<void> {
  if (isPublic) return;
  await provisionClient(ostiary, 'assistant', {
    name: 'Assistant',
    redirectUris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    loopbackPorts: 'any',
    allowedScopes: assistantScopes,
  });
  console.log(`MCP server: ${mcpUrl}, client id: assistant`);
}
