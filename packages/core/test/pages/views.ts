import { type AppsView, appsPage } from '../../src/pages/apps.ts';
import { type ConsentView, consentPage } from '../../src/pages/consent.ts';
import { type ErrorKind, errorPage } from '../../src/pages/error.ts';
import type { Page } from '../../src/pages/layout.ts';
import type { PageTheme } from '../../src/pages/style.ts';
import { text } from '../../src/pages/text.ts';
import { type Language, scopeNames } from '../../src/scopes.ts';

export const languages: readonly Language[] = ['en', 'fr'];

export const theme: PageTheme = { name: 'Kòb', colour: '#1a4f8b' };

export const errorKinds = Object.keys(text.en.errors) as readonly ErrorKind[];

/** Where the user has allowed others before. */
export const someNew = scopeNames.map((name) => ({
  name,
  isNew: name === 'kyc' || name === 'wallet:balance',
}));

export function consent(language: Language, changes: Partial<ConsentView> = {}): Page {
  return consentPage({
    theme,
    language,
    clientName: 'Rara Market',
    userName: 'Marie Joseph',
    scopes: scopeNames.map((name) => ({ name, isNew: true })),
    redirectHost: 'rara.example',
    csrfToken: 'csrf-token',
    action: '/oauth/interaction/abc',
    switchAccountUrl: '/login?again=1&to=%2Fx',
    ...changes,
  });
}

export function apps(language: Language, changes: Partial<AppsView> = {}): Page {
  const app = (clientId: string, clientName: string, updatedAt: string): AppsView['apps'][number] => ({
    clientName,
    scopes: ['openid', 'kyc'],
    grantedAt: new Date('2026-01-05T23:30:00.000Z'),
    updatedAt: new Date(updatedAt),
    revokeAction: `/account/apps/${clientId}/revoke`,
    csrfToken: `csrf-${clientId}`,
  });
  return appsPage({
    theme,
    language,
    apps: [
      app('rara', 'Rara Market', '2026-03-12T08:00:00.000Z'),
      app('lakou', 'Lakou Books', '2026-01-05T23:31:00.000Z'),
    ],
    userName: 'Marie Joseph',
    notice: null,
    ...changes,
  });
}

export function failure(
  language: Language,
  kind: ErrorKind,
  detail: string | null = 'state is too long',
): Page {
  return errorPage({ theme, language, kind, detail, requestId: '0198c1b2-93ab-7c2e' });
}

/** Every page that a user can meet, by name. */
export const everyPage: { readonly [name: string]: (language: Language) => Page } = {
  consent: (language) => consent(language),
  'consent with new scopes': (language) => consent(language, { scopes: someNew }),
  'consent without a user name': (language) => consent(language, { userName: null, switchAccountUrl: null }),
  'connected apps': (language) => apps(language),
  'connected apps after a removal': (language) => apps(language, { notice: 'revoked' }),
  'no connected apps': (language) => apps(language, { apps: [] }),
  ...Object.fromEntries(
    errorKinds.map((kind) => [`error ${kind}`, (language: Language) => failure(language, kind)]),
  ),
};
