import en from '../../languages/en.json' with { type: 'json' };
import { loadLanguages, shippedLanguages } from '../../src/languages/load.ts';
import type { HostTexts, PageLanguage, PageTexts } from '../../src/languages/page-language.ts';
import { type AppsNotice, type AppsView, appsPage } from '../../src/pages/apps.ts';
import { type ConsentView, consentPage } from '../../src/pages/consent.ts';
import { type ErrorKind, type ErrorView, errorPage } from '../../src/pages/error.ts';
import type { Page } from '../../src/pages/layout.ts';
import { afterLogoutPage, type LogoutView, logoutPage } from '../../src/pages/logout.ts';
import type { PageTheme } from '../../src/pages/style.ts';
import { scopeNames, scopes } from '../../src/scopes/scopes.ts';
import { argumentsOf } from '../../src/text/messages.ts';

/** Replaces every English text by meaningless words in Arabic letters. */
function inArabicLetters<Whole extends object>(whole: Whole): Whole {
  const words = Object.entries(whole).map(([key, value]) => [
    key,
    typeof value === 'string'
      ? `نص للتجربة ${argumentsOf(value).map((name) => `{${name}}`)} وشيء آخر`
      : inArabicLetters(value),
  ]);
  return Object.fromEntries(words);
}

const consents = Object.fromEntries(scopeNames.map((name) => [name, scopes[name].consent]));

/** Loads the page languages with the given tags. Their texts cover all built-in scopes. */
export const speaking = (tags: readonly string[], texts: HostTexts = {}) =>
  loadLanguages(tags, texts, consents);

/** Complete page texts of a host application's own language. */
export const arabic: PageTexts = inArabicLetters((await speaking(['en']))[0]?.texts ?? ({} as PageTexts));

const known = await speaking([...shippedLanguages, 'ar'], { ar: arabic });

/** Returns a page language by its tag. */
export function languageOf(tag: string): PageLanguage {
  const found = known.find((language) => language.tag === tag);
  if (found === undefined) throw new Error(`no language ${tag}`);
  return found;
}

/** Languages in which every page is opened. */
export const languages = ['en', 'fr'] as const;

/** Languages besides English and French. Tests open only some of the pages in them. */
export const others = ['ht', 'es', 'pt', 'ar'] as const;

export const theme: PageTheme = { name: 'Kòb', colour: '#1a4f8b' };

const errorKinds = Object.keys(en.errors) as readonly ErrorKind[];

/** Scopes on the consent page, some of which the user has already approved. */
export const someNew = scopeNames.map((name) => ({
  ...{ name, isNew: name === 'kyc' || name === 'wallet:balance' },
  ...{ isOptional: false, isDeclined: false, values: [] },
}));

/** Scopes of which the user may leave some out, with the user's own data. */
export const someOptional: ConsentView['scopes'] = someNew.map((scope) => ({
  ...scope,
  isOptional: scope.name === 'kyc' || scope.name === 'wallet:balance',
  isDeclined: scope.name === 'wallet:balance',
  values: scope.name === 'profile' ? ['Marie Joseph', '@marie'] : [],
}));

/** Languages to which the tested pages have links. */
const shownLanguages = shippedLanguages.map(languageOf);

/** Message that the page of connected apps shows after an app was removed. */
export const removed: AppsNotice = {
  ...{ kind: 'removed', clientName: 'Rara Market' },
  ...{ undoAction: '/account/apps/rara/restore', csrfToken: 'csrf-undo' },
};

export function consent(language: string, changes: Partial<ConsentView> = {}): Page {
  return consentPage({
    theme,
    ...{ language: languageOf(language), languages: shownLanguages },
    ...{ clientName: 'Rara Market', partnerName: 'Rara S.A.', logoUrl: null, userName: 'Marie Joseph' },
    scopes: someNew.map((scope) => ({ ...scope, isNew: true })),
    resourceNames: [],
    ...{ redirectTarget: 'rara.example', isWebsite: true, accessSeconds: 3600, keepsAccess: false },
    csrfToken: 'csrf-token',
    action: '/oauth/interaction/abc',
    switchAccountUrl: '/login?again=1&to=%2Fx',
    ...{ document: null, termsUrl: null, privacyUrl: null },
    ...changes,
  });
}

export function apps(language: string, changes: Partial<AppsView> = {}): Page {
  const app = (clientId: string, clientName: string, updatedAt: string): AppsView['apps'][number] => ({
    clientName,
    logoUrl: null,
    scopes: ['openid', 'kyc'],
    grantedAt: new Date('2026-01-05T23:30:00.000Z'),
    updatedAt: new Date(updatedAt),
    lastUsedAt: null,
    revokeAction: `/account/apps/${clientId}/revoke`,
    csrfToken: `csrf-${clientId}`,
  });
  return appsPage({
    theme,
    ...{ language: languageOf(language), languages: shownLanguages },
    ...{ pageUrl: '/account/apps', homeUrl: '/' },
    apps: [
      app('rara', 'Rara Market', '2026-03-12T08:00:00.000Z'),
      app('lakou', 'Lakou Books', '2026-01-05T23:31:00.000Z'),
    ],
    userName: 'Marie Joseph',
    timeZone: 'America/Port-au-Prince',
    notice: null,
    ...changes,
  });
}

export function failure(
  language: string,
  kind: ErrorKind,
  detail: string | null = 'state is too long',
  changes: Partial<ErrorView> = {},
): Page {
  return errorPage({
    theme,
    language: languageOf(language),
    kind,
    detail,
    requestId: '0198c1b2-93ab-7c2e',
    app: null,
    ...changes,
  });
}

function logout(language: string, changes: Partial<LogoutView> = {}): Page {
  return logoutPage({
    theme,
    language: languageOf(language),
    clientName: 'Rara Market',
    userName: 'Marie Joseph',
    csrfToken: 'csrf-token',
    action: '/oauth/logout/confirm?client_id=rara',
    ...changes,
  });
}

/** All pages that a user may see, by name. */
export const everyPage: { readonly [name: string]: (language: string) => Page } = {
  consent: (language) => consent(language),
  'consent with new scopes': (language) => consent(language, { scopes: someNew }),
  'consent without a user name': (language) => consent(language, { userName: null, switchAccountUrl: null }),
  'consent with pages of the app': (language) =>
    consent(language, { termsUrl: 'https://rara.example/terms', privacyUrl: 'https://rara.example/privacy' }),
  'consent for an app that nobody has checked': (language) =>
    consent(language, {
      clientName: 'assistant.example',
      document: { claimedName: 'Assistant', returnsToDevice: true },
    }),
  'consent with a logo': (language) => consent(language, { logoUrl: '/logo.svg' }),
  'connected apps': (language) => apps(language),
  'consent with optional scopes and values': (language) => consent(language, { scopes: someOptional }),
  'connected apps after a removal': (language) => apps(language, { notice: removed }),
  'connected apps after an undone removal': (language) =>
    apps(language, { notice: { kind: 'restored', clientName: 'Rara Market' } }),
  'connected apps after a late undo': (language) => apps(language, { notice: { kind: 'tooLate' } }),
  logout: (language) => logout(language),
  'logout for nobody': (language) => logout(language, { clientName: null, userName: null }),
  'after a logout': (language) => afterLogoutPage({ theme, language: languageOf(language) }, 'leave'),
  'after no logout': (language) => afterLogoutPage({ theme, language: languageOf(language) }, 'stay'),
  'no connected apps': (language) => apps(language, { apps: [] }),
  ...Object.fromEntries(
    errorKinds.map((kind) => [`error ${kind}`, (language: string) => failure(language, kind)]),
  ),
  'error with a way back': (language) =>
    failure(language, 'expired', null, { app: { name: 'Rara Market', url: 'https://rara.example/' } }),
};
