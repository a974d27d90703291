import { z } from 'zod';
import type { UserRecord } from '../ports/users.ts';
import type { ConsentTexts } from './consent-texts.ts';
import { userIdFormat, userIdWords } from './user-ids.ts';

/** Definition of a scope, for the consent page, userinfo and discovery. */
export interface ScopeDefinition {
  /** The fields of the user that it shows, each with the check that the host's value must pass and a description of it. */
  readonly fields: { readonly [Field in keyof UserRecord]?: z.ZodType };
  /** Texts of the consent page. */
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

/** Its fields stay known by name; the words of the consent page are no part of its type. */
const scope = <Fields extends ScopeDefinition['fields']>(definition: {
  readonly fields: Fields;
  readonly consent: ConsentTexts;
}) => definition;

/**
 * The scopes and the fields of each (specification, "Userinfo record"). To add a scope, add an entry here:
 * discovery announces it, clients can be allowed it, the consent page explains it and userinfo answers its
 * fields.
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
    consent: {
      en: { title: 'Know who you are', detail: 'Your user id, role, country and the date you joined.' },
      fr: {
        title: 'Savoir qui vous êtes',
        detail: 'Votre identifiant, votre rôle, votre pays et votre date d’inscription.',
      },
      ht: { title: 'Konnen kiyès ou ye', detail: 'Idantifyan ou, wòl ou, peyi ou ak dat ou te enskri.' },
      es: {
        title: 'Saber quién es usted',
        detail: 'Su identificador, su función, su país y la fecha en que se registró.',
      },
      pt: {
        title: 'Saber quem você é',
        detail: 'Seu identificador, sua função, seu país e a data em que se registrou.',
      },
    },
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
    consent: {
      en: { title: 'See your profile', detail: 'Your name, handle and picture.' },
      fr: { title: 'Voir votre profil', detail: 'Votre nom, votre pseudonyme et votre photo.' },
      ht: { title: 'Wè pwofil ou', detail: 'Non ou, non itilizatè ou ak foto ou.' },
      es: { title: 'Ver su perfil', detail: 'Su nombre, su alias y su foto.' },
      pt: { title: 'Ver seu perfil', detail: 'Seu nome, seu apelido e sua foto.' },
    },
  }),
  kyc: scope({
    fields: {
      kycTier: z.int().min(0).max(3).optional().describe(`integer, 0 to 3${maybe}`),
      kycStatus: z
        .enum(['approved', 'pending', 'rejected'])
        .optional()
        .describe(`\`approved\`, \`pending\` or \`rejected\`${maybe}`),
    },
    consent: {
      en: {
        title: 'See your identity check',
        detail: 'Whether your identity was verified, and to which level. No documents are shared.',
      },
      fr: {
        title: 'Voir votre vérification d’identité',
        detail: 'Si votre identité a été vérifiée, et à quel niveau. Aucun document n’est partagé.',
      },
      ht: {
        title: 'Wè verifikasyon idantite ou',
        detail: 'Si yo verifye idantite ou, ak nan ki nivo. Yo pa pataje okenn dokiman.',
      },
      es: {
        title: 'Ver su verificación de identidad',
        detail: 'Si su identidad fue verificada, y hasta qué nivel. No se comparte ningún documento.',
      },
      pt: {
        title: 'Ver sua verificação de identidade',
        detail: 'Se a sua identidade foi verificada, e até que nível. Nenhum documento é compartilhado.',
      },
    },
  }),
  'wallet:balance': scope({
    fields: { htgBalance: money, usdBalance: money },
    consent: {
      en: {
        title: 'See your balances',
        detail: 'What you hold in gourdes and US dollars at the moment it asks. No history, and no payments.',
      },
      fr: {
        title: 'Voir vos soldes',
        detail:
          'Ce que vous détenez en gourdes et en dollars au moment de la demande. Ni historique, ni paiements.',
      },
      ht: {
        title: 'Wè balans ou',
        detail: 'Sa ou genyen an goud ak an dola ameriken nan moman li mande a. Pa gen istorik, ni peman.',
      },
      es: {
        title: 'Ver sus saldos',
        detail: 'Lo que tiene en gourdes y dólares en el momento en que lo pide. Ni historial, ni pagos.',
      },
      pt: {
        title: 'Ver seus saldos',
        detail: 'O que você tem em gourdes e dólares no momento do pedido. Nem histórico, nem pagamentos.',
      },
    },
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
    consent: {
      en: {
        title: 'See your trust level and credentials',
        detail: 'Your trust score and tier, and the list of credentials that you hold.',
      },
      fr: {
        title: 'Voir votre niveau de confiance et vos attestations',
        detail: 'Votre score et votre niveau de confiance, et la liste de vos attestations.',
      },
      ht: {
        title: 'Wè nivo konfyans ou ak atestasyon ou yo',
        detail: 'Nòt ou ak nivo konfyans ou, ak lis atestasyon ou genyen yo.',
      },
      es: {
        title: 'Ver su nivel de confianza y sus credenciales',
        detail: 'Su puntuación y su nivel de confianza, y la lista de las credenciales que tiene.',
      },
      pt: {
        title: 'Ver seu nível de confiança e suas credenciais',
        detail: 'Sua pontuação e seu nível de confiança, e a lista das credenciais que você tem.',
      },
    },
  }),
} as const satisfies { readonly [scope: string]: ScopeDefinition };

/** The name of a scope. */
export type Scope = keyof typeof scopes;

/** Every scope, in the order in which pages and discovery show them. */
export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** Checks whether such a scope exists. */
export function isScope(name: string): name is Scope {
  return Object.hasOwn(scopes, name);
}

/** The scope with which a client is given refresh tokens (OpenID Connect Core, section 11). There with the option for them. */
export const offlineAccess = 'offline_access';
