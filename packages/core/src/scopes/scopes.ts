import { z } from 'zod';
import type { UserRecord } from '../ports/users.ts';
import { type ConsentTexts, consentTexts } from './consent-texts.ts';
import { userIdFormat, userIdWords } from './user-ids.ts';

/** Definition of a built-in scope, used by the consent page, userinfo and discovery. */
export interface ScopeDefinition {
  /** Fields of the user's record that the scope gives access to, each with its schema and description. */
  readonly fields: { readonly [Field in keyof UserRecord]?: z.ZodType };
  /** Texts of the consent page about the scope. */
  readonly consent: ConsentTexts;
}

const text = z.string().min(1).max(1024).describe('string');
const isoTimestamp = z.iso.datetime({ offset: false }).describe('string, ISO 8601, UTC');
const maybe = '; left out where the service does not know it';
const userId = z.string().regex(userIdFormat, userIdWords);
const money = z
  .string()
  .regex(/^-?(0|[1-9][0-9]{0,14})\.[0-9]{2}$/, 'must be a decimal with two digits')
  .describe('string, decimal with two digits');

/** Defines a scope. Its type keeps the names of the fields, but not the texts. */
const scope = <Fields extends ScopeDefinition['fields']>(definition: {
  readonly fields: Fields;
  readonly consent: ConsentTexts;
}) => definition;

/**
 * Built-in scopes and the fields of each (specification, "Userinfo record"). To add a scope, add an entry
 * here: discovery announces it, clients can be allowed it, the consent page explains it and userinfo returns
 * its fields.
 */
export const scopes = {
  openid: scope({
    fields: {
      sub: userId.describe('string, the user’s id'),
      kid: userId.describe('string, the user’s public id'),
      role: text.optional().describe(`string${maybe}`),
      country: z
        .string()
        .regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 code')
        .optional()
        .describe(`string, ISO 3166-1 alpha-2${maybe}`),
      createdAt: isoTimestamp.optional().describe(`string, ISO 8601, UTC${maybe}`),
    },
    consent: consentTexts('openid'),
  }),
  profile: scope({
    fields: {
      name: text.optional().describe(`string${maybe}`),
      handle: text.optional().describe(`string${maybe}`),
      avatarUrl: z
        .url({ protocol: /^https?$/ })
        .max(2048)
        .nullable()
        .optional()
        .describe(`string (URL), or null for a user without a picture${maybe}`),
    },
    consent: consentTexts('profile'),
  }),
  kyc: scope({
    fields: {
      kycTier: z.int().min(0).max(3).optional().describe(`integer, 0 to 3${maybe}`),
      kycStatus: z
        .enum(['approved', 'pending', 'rejected'])
        .optional()
        .describe(`\`approved\`, \`pending\` or \`rejected\`${maybe}`),
    },
    consent: consentTexts('kyc'),
  }),
  'wallet:balance': scope({
    fields: { htgBalance: money, usdBalance: money },
    consent: consentTexts('wallet:balance'),
  }),
  identity: scope({
    fields: {
      trustScore: z.int().min(0).max(100).describe('integer, 0 to 100'),
      trustTier: text,
      activeCredentials: z
        .array(z.object({ id: text, type: text, issuedAt: isoTimestamp, expiresAt: isoTimestamp.nullable() }))
        .max(1000)
        .describe('array of `{ id, type, issuedAt, expiresAt }`; times ISO 8601, `expiresAt` may be null'),
    },
    consent: consentTexts('identity'),
  }),
} as const satisfies { readonly [scope: string]: ScopeDefinition };

/** Name of a built-in scope. */
export type Scope = keyof typeof scopes;

/** Names of all built-in scopes, in the order in which pages and discovery show them. */
export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** Checks whether a name is that of a built-in scope. */
export function isScope(name: string): name is Scope {
  return Object.hasOwn(scopes, name);
}

/**
 * Scope with which a client gets refresh tokens (OpenID Connect Core, section 11). Available if the option
 * `refreshTokens` is set.
 */
export const offlineAccess = 'offline_access';
