import { z } from 'zod';
import type { UserRecord } from '../ports/users.ts';
import { type ConsentTexts, consentTexts } from './consent-texts.ts';

/**
 * A claim of userinfo that is copied from a field of the user's record. The claim is left out if the record
 * lacks the field.
 */
export interface ReadyClaim {
  readonly read: (user: UserRecord) => unknown;
  /** Field of the user's record that an error names if the value is wrong. */
  readonly field: keyof UserRecord;
  readonly check: z.ZodType;
}

/** Name of an optional scope that a host application can enable. */
export type ReadyScopeName = 'email' | 'phone' | 'address';

interface ReadyScope<Claims = { readonly [claim: string]: ReadyClaim }> {
  readonly claims: Claims;
  readonly consent: ConsentTexts;
}

const ready = <Claims extends ReadyScope['claims']>(scope: ReadyScope<Claims>) => scope;

/**
 * Defines a claim that is copied from a field of the user's record. A NULL from a database counts as missing.
 */
const taken = (field: keyof UserRecord, check: z.ZodType): ReadyClaim => ({
  ...{ field, check },
  read: (user) => user[field] ?? undefined,
});

const text = z.string().min(1).max(1024);

/**
 * Schema that checks loosely whether a text is an email address. Hosts have users whose addresses follow no
 * grammar, such as `ana@localhost`, addresses in other scripts (RFC 6531), and Japanese addresses with two
 * dots in a row. A user whose address is refused could not sign in.
 */
const emailAddress = z
  .string()
  .max(320, 'must be an e-mail address such as ana@example.com')
  .regex(/^[^\p{Cc}]+@[^\p{Cc}\s@]+$/u, 'must be an e-mail address such as ana@example.com');

/** Schema for a part of a postal address; a NULL from a database counts as missing. */
const part = text.nullish().transform((value) => value ?? undefined);

/** Optional scopes (OpenID Connect Core, section 5.4) that a host application can enable. */
export const readyScopes = {
  email: ready({
    claims: {
      email: taken('email', emailAddress),
      email_verified: taken('emailVerified', z.boolean()),
    },
    consent: consentTexts('email'),
  }),
  phone: ready({
    claims: {
      phone_number: taken(
        'phoneNumber',
        z.string().regex(/^\+[1-9]\d{1,14}$/, 'must be E.164, such as +50937000001'),
      ),
      phone_number_verified: taken('phoneNumberVerified', z.boolean()),
    },
    consent: consentTexts('phone'),
  }),
  address: ready({
    claims: {
      address: {
        field: 'address',
        read: ({ address }) =>
          address == null
            ? undefined
            : {
                formatted: address.formatted,
                street_address: address.streetAddress,
                locality: address.locality,
                region: address.region,
                postal_code: address.postalCode,
                country: address.country,
              },
        check: z.object({
          formatted: part,
          street_address: part,
          locality: part,
          region: part,
          postal_code: part,
          country: part,
        }),
      },
    },
    consent: consentTexts('address'),
  }),
} satisfies { readonly [Name in ReadyScopeName]: ReadyScope };

/** Texts of the consent page about the scope `offline_access`. */
export const offlineAccessConsent = consentTexts('offline_access');

const languageTag = z
  .string()
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as fr-HT');

/** Texts of the consent page about the scope `profile` with the claims of `standardProfile`. */
export const standardProfileConsent = consentTexts('standardProfile');

const webUrl = z.url({ protocol: /^https?$/ }).max(2048);

/**
 * Checks a date without a time zone, or a year alone. The year `0000` stands for an unknown year (OpenID
 * Connect Core, section 5.1).
 */
const isDate = (value: string): boolean =>
  /^\d{4}$/.test(value) ||
  (/^\d{4}-\d\d-\d\d$/.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString().startsWith(value));

/** Claims that `standardProfile` adds to `profile`, because OpenID Connect apps expect them. */
export const standardProfileClaims: { readonly [claim: string]: ReadyClaim } = {
  preferred_username: taken('handle', text),
  picture: {
    ...taken('avatarUrl', webUrl),
    read: ({ avatarUrl }) => avatarUrl ?? undefined,
  },
  locale: taken('locale', languageTag),
  zoneinfo: taken(
    'zoneinfo',
    z
      .string()
      .regex(/^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/, 'must be a time zone such as America/Port-au-Prince'),
  ),
  updated_at: {
    field: 'updatedAt',
    check: z.int(),
    read: ({ updatedAt }) => (updatedAt == null ? undefined : Math.floor(Date.parse(updatedAt) / 1000)),
  },
  given_name: taken('givenName', text),
  family_name: taken('familyName', text),
  middle_name: taken('middleName', text),
  nickname: taken('nickname', text),
  profile: taken('profile', webUrl),
  website: taken('website', webUrl),
  gender: taken('gender', text),
  birthdate: taken('birthdate', z.string().refine(isDate, 'must be a date such as 1990-01-31, or a year')),
};
