import { z } from 'zod';
import type { HostEventDefinition } from '../events.ts';
import { addressLimits, partnerLimits } from '../limits/request-limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Notify } from '../ports/notices.ts';
import type { AddressCounts, RateLimitStore } from '../ports/rate-limits.ts';
import { isStandardSchema } from '../schemas/standard-schema.ts';
import type { HostScopes } from '../scopes/catalog.ts';
import { contextClassWords, isContextClass } from '../scopes/context-classes.ts';
import { stderrLogger } from '../telemetry/stderr-logger.ts';
import { defaultOptions } from './defaults.ts';
import type { VerifyImportedSecret } from './oauth-options.ts';
import {
  callback,
  colour,
  eachWithDefault,
  hostObject,
  isLanguageTag,
  knownOnly,
  logger,
  partnerLimit,
  perMinute,
  proxy,
  sealingKeys,
  serverUrl,
  storage,
  store,
} from './option-values.ts';

/** Schema that checks every option of `createOstiary` by itself, and fills in its default. */
export const optionsSchema = knownOnly({
  authUrl: serverUrl,
  baseUrl: serverUrl.optional(),
  issuer: serverUrl.optional(),
  prefix: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,15}$/, 'must be 2 to 16 lower-case letters and digits, a letter first')
    .default(defaultOptions.prefix),
  storage,
  users: hostObject({
    find: callback(),
    findByKid: callback().optional(),
    findByPhone: callback().optional(),
    isVisible: callback().optional(),
  }),
  login: hostObject({
    authenticate: callback(),
    loginUrl: callback(),
    signOut: callback().optional(),
    acrValues: z
      .array(z.string().refine(isContextClass, contextClassWords))
      .min(1)
      .max(100)
      .refine((values) => new Set(values).size === values.length, 'names one twice')
      .optional(),
  }),
  sealingKeys,
  hostSecrets: hostObject({ countSealedOtherwise: callback(), reseal: callback() }).optional(),
  trustedProxies: z.array(proxy).default([]),
  theme: knownOnly({
    name: z.string().trim().min(1).max(60).default(defaultOptions.theme.name),
    logo: z
      .string()
      .regex(
        /^(data:image\/(png|jpeg|webp|svg\+xml)[;,]|\/(?![/\\]))/,
        'must be a data: image or a path on authUrl',
      )
      .max(100_000)
      .optional(),
    colour: colour.default(defaultOptions.theme.colour),
    showHandle: z.boolean().default(defaultOptions.theme.showHandle),
  }).prefault({}),
  languages: z
    .array(z.string().refine(isLanguageTag, 'must be a language tag such as pt or pt-BR'))
    .min(1)
    .refine((tags) => new Set(tags).size === tags.length, 'names one twice')
    .default([...defaultOptions.languages]),
  texts: z.record(z.string(), z.looseObject({})).default({}),
  scopes: z
    .custom<HostScopes>((value) => typeof value === 'object' && value !== null, 'must be an object')
    .default({}),
  resources: z
    .record(z.string(), knownOnly({ name: z.string().trim().min(1).max(100), scopes: z.array(z.string()) }))
    .optional(),
  verifyImportedSecret: callback<VerifyImportedSecret>().optional(),
  hostTimeoutSeconds: z.number().positive().max(600).default(defaultOptions.hostTimeoutSeconds),
  pages: knownOnly({ consent: callback().optional(), error: callback().optional() }).prefault({}),
  interactionUrl: callback<(interactionId: string) => string>().optional(),
  claimsParameter: z.boolean().default(defaultOptions.claimsParameter),
  consent: knownOnly({ values: z.boolean().default(defaultOptions.consent.values) }).prefault({}),
  introspection: z.boolean().default(defaultOptions.introspection),
  clientMetadataDocuments: knownOnly({
    scopes: z.array(z.string()).min(1),
    allow: callback<(url: URL) => Promise<boolean> | boolean>().optional(),
    allowPrivateDocuments: z.boolean().default(defaultOptions.clientMetadataDocuments.allowPrivateDocuments),
  }).optional(),
  pushedRequests: knownOnly({
    required: z.boolean().default(defaultOptions.pushedRequests.required),
  }).optional(),
  privateKeyJwt: z.boolean().default(defaultOptions.privateKeyJwt),
  dpop: z.boolean().default(defaultOptions.dpop),
  refreshTokens: knownOnly({
    idleDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.idleDays),
    absoluteDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.absoluteDays),
  }).optional(),
  limits: knownOnly({
    store: store<AddressCounts>('consume', 'peek').optional(),
    ...eachWithDefault(addressLimits, perMinute),
    pushedRequestsPerClient: perMinute.default(defaultOptions.limits.pushedRequestsPerClient),
    refreshesPerGrant: perMinute.default(defaultOptions.limits.refreshesPerGrant),
    unfinishedInteractions: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(defaultOptions.limits.unfinishedInteractions),
  }).prefault({}),
  payments: hostObject({ execute: callback(), onContradiction: callback().optional() }).optional(),
  partnerLimits: knownOnly({
    per: z.enum(['key', 'partner']).default(defaultOptions.partnerLimits.per),
    store: store<RateLimitStore>('consume').optional(),
    ...eachWithDefault(partnerLimits, partnerLimit),
  }).prefault({}),
  requestLog: z.enum(['off', 'test', 'all']).default(defaultOptions.requestLog),
  webhooks: knownOnly({
    allowPrivateTargets: z.boolean().default(defaultOptions.webhooks.allowPrivateTargets),
    retryDelaysSeconds: z
      .array(z.number().positive().max(604_800))
      .max(20)
      .default([...defaultOptions.webhooks.retryDelaysSeconds]),
    concurrency: z.int().min(1).max(10_000).default(defaultOptions.webhooks.concurrency),
    retentionDays: z.int().min(1).max(3650).default(defaultOptions.webhooks.retentionDays),
    standardHeaders: z.boolean().default(defaultOptions.webhooks.standardHeaders),
    resolve: callback<(hostname: string) => Promise<readonly string[]>>().optional(),
  }).prefault({}),
  events: z
    .record(
      z
        .string()
        .regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/, 'has to be a name such as order.shipped')
        .max(64),
      knownOnly({
        summary: z.string().max(200).optional(),
        schema: z.custom<HostEventDefinition['schema']>(isStandardSchema, 'must be a Standard Schema'),
        example: z.record(z.string(), z.unknown()),
      }),
    )
    .default({}),
  console: hostObject({
    opensWith: hostObject({ scope: z.string().nullable(), testOnly: z.boolean() }),
    pages: callback(),
    portal: hostObject({ linkPath: z.string(), pages: callback() }).optional(),
  }).optional(),
  operators: hostObject({ authenticate: callback(), pages: hostObject({ pages: callback() }) }).optional(),
  notify: callback<Notify>().optional(),
  telemetry: z.boolean().default(defaultOptions.telemetry),
  clock: store<Clock>('now').optional(),
  logger: logger.default(stderrLogger),
});
