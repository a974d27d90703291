import type { z } from 'zod';
import { type Catalogue, createCatalogue } from '../events.ts';
import { loadLanguages } from '../languages/load.ts';
import type { HostTexts, PageLanguage } from '../languages/page-language.ts';
import type { HostSecrets } from '../ports/host-secrets.ts';
import type { Operators } from '../ports/operators.ts';
import type { PartnerConsole } from '../ports/partner-console.ts';
import type { PaymentRail } from '../ports/payments.ts';
import type { Login, UserDirectory } from '../ports/users.ts';
import type { ScopeCatalog } from '../scopes/catalog.ts';
import { loadScopes } from '../scopes/load.ts';
import type { HostResources, ResourceCatalog } from '../scopes/resources.ts';
import { inPlainWords } from '../text/plain-words.ts';
import { withDeadline, withDeadlines } from '../time/deadline.ts';
import type { HostPages } from './host-pages.ts';
import { isLoopback } from './option-values.ts';
import type { OstiaryOptions } from './options.ts';
import { optionsSchema } from './schema.ts';

/**
 * Maximum time of a call of the option `notify`, in seconds. The time is shorter than the lease of the
 * notice's job.
 */
const notifySeconds = 10;

const userCalls = ['find', 'findByKid', 'findByPhone', 'isVisible'] as const;

/** Options of `createOstiary` after validation, with all defaults filled in. */
export type Options = Readonly<
  Omit<
    z.output<typeof optionsSchema>,
    | 'issuer'
    | 'users'
    | 'login'
    | 'hostSecrets'
    | 'pages'
    | 'payments'
    | 'events'
    | 'console'
    | 'operators'
    | 'languages'
    | 'texts'
    | 'scopes'
    | 'resources'
  >
> & {
  readonly events: Catalogue;
  readonly languages: readonly PageLanguage[];
  readonly scopes: ScopeCatalog;
  readonly resources: ResourceCatalog | undefined;
  readonly baseUrl: URL;
  /** Issuer identifier as in tokens and metadata: without a trailing slash if it has no path. */
  readonly issuer: string;
  readonly users: UserDirectory;
  readonly login: Login;
  readonly hostSecrets: HostSecrets | undefined;
  readonly pages: HostPages;
  readonly payments: PaymentRail | undefined;
  readonly console: PartnerConsole | undefined;
  readonly operators: Operators | undefined;
};

/**
 * Freezes plain objects and arrays recursively. Skips byte arrays, which cannot be frozen, and URLs and
 * objects of the host application, which may still change.
 */
function deepFreeze<T>(value: T): T {
  if (
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
  ) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

/** Loads the option `resources`. @throws TypeError if it is invalid */
async function resourceCatalog(given: HostResources, scopes: ScopeCatalog): Promise<ResourceCatalog> {
  const { loadResources } = await import('../scopes/resources.ts');
  return loadResources(given, scopes);
}

/**
 * Runs a function that checks or creates a part of the options. @throws TypeError that names `createOstiary`,
 * if the option is wrong
 */
async function made<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new TypeError(`createOstiary: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Puts time limits on the functions of the host application that requests and workers call. */
function hostFunctions(
  options: OstiaryOptions,
  seconds: number,
  acrValues: readonly string[] | undefined,
): Pick<Options, 'users' | 'login' | 'hostSecrets' | 'pages' | 'operators'> {
  const { users, login, hostSecrets, pages = {}, operators } = options;
  return {
    users: withDeadlines('users', users, userCalls, seconds),
    login: Object.freeze({
      ...withDeadlines('login', login, ['authenticate', 'loginUrl', 'signOut'], seconds),
      ...(acrValues !== undefined && { acrValues }),
    }),
    hostSecrets:
      hostSecrets && withDeadlines('hostSecrets', hostSecrets, ['countSealedOtherwise', 'reseal'], seconds),
    pages: withDeadlines('pages', pages, ['consent', 'error'], seconds),
    operators: operators && {
      ...withDeadlines('operators', operators, ['authenticate'], seconds),
      pages: operators.pages,
    },
  };
}

/**
 * Refuses options whose value is a promise, because the schema would take it for an object without members.
 * The schema itself refuses a promise in place of a storage.
 */
function refusePromises(options: OstiaryOptions): void {
  const found = Object.entries(options ?? {}).find(
    ([name, value]) => name !== 'storage' && value instanceof Promise,
  );
  if (found !== undefined)
    throw new TypeError(`createOstiary: ${found[0]}: is a promise; wait for its value with await`);
}

/**
 * Validates the options of `createOstiary`, fills in defaults, and loads the modules of enabled features.
 * @throws TypeError that names every malformed option by its path, or the first one that contradicts another
 */
export async function parseOptions(options: OstiaryOptions): Promise<Options> {
  refusePromises(options);
  // Skip zod's compilation of the schema, which takes longer than this only parse.
  const result = optionsSchema.safeParse(options, { ...inPlainWords, jitless: true });
  if (!result.success) {
    const problems = result.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'options'}: ${message}`,
    );
    throw new TypeError(`createOstiary: ${problems.join('; ')}`);
  }
  const {
    storage,
    clock,
    logger,
    payments,
    console: _,
    operators: __,
    webhooks,
    events,
    languages,
    texts,
    scopes: hostScopes,
    resources,
    limits,
    partnerLimits,
    ...plain
  } = result.data;
  const scopes = await made(() => loadScopes(hostScopes, languages, plain.refreshTokens !== undefined));
  const { findByKid, findByPhone } = options.users;
  if (payments !== undefined && (findByKid === undefined || findByPhone === undefined)) {
    throw new TypeError('createOstiary: users: the partner API (payments) needs findByKid and findByPhone');
  }
  if (options.console !== undefined && payments === undefined) {
    throw new TypeError('createOstiary: console: partners and their keys come with payments');
  }
  const { authUrl, baseUrl = authUrl, issuer = authUrl } = plain;
  if (webhooks.allowPrivateTargets && !(isLoopback(authUrl) && isLoopback(baseUrl))) {
    throw new TypeError(
      'createOstiary: webhooks.allowPrivateTargets: authUrl and baseUrl have to be loopback addresses',
    );
  }
  const documents = plain.clientMetadataDocuments;
  if (documents?.allowPrivateDocuments && !(isLoopback(authUrl) && isLoopback(baseUrl))) {
    throw new TypeError(
      'createOstiary: clientMetadataDocuments.allowPrivateDocuments: authUrl and baseUrl have to be loopback addresses',
    );
  }
  const unknownScope = documents?.scopes.find((name) => !scopes.has(name));
  if (unknownScope !== undefined) {
    throw new TypeError(
      `createOstiary: clientMetadataDocuments.scopes: ${unknownScope} is no scope; there are ${scopes.names.join(', ')}`,
    );
  }
  const { hostTimeoutSeconds, verifyImportedSecret: verify } = plain;
  return Object.freeze({
    ...deepFreeze(plain),
    baseUrl,
    issuer: issuer.pathname === '/' ? issuer.origin : issuer.href,
    storage,
    clock,
    logger,
    ...hostFunctions(options, hostTimeoutSeconds, plain.login.acrValues),
    payments: options.payments,
    console: options.console,
    // Freeze only the outer object: `store` belongs to the host.
    limits: Object.freeze(limits),
    partnerLimits: Object.freeze(partnerLimits),
    webhooks: deepFreeze(webhooks),
    events: await made(() => createCatalogue(events as NonNullable<OstiaryOptions['events']>)),
    scopes,
    resources: resources && (await made(() => resourceCatalog(resources, scopes))),
    languages: await made(() => loadLanguages(languages, texts as HostTexts, scopes.consents)),
    clientMetadataDocuments:
      documents &&
      Object.freeze({
        ...documents,
        allow:
          documents.allow &&
          withDeadline('clientMetadataDocuments.allow', documents.allow, hostTimeoutSeconds),
      }),
    notify: plain.notify && withDeadline('notify', plain.notify, notifySeconds),
    verifyImportedSecret: verify && withDeadline('verifyImportedSecret', verify, hostTimeoutSeconds),
  });
}
