import { z } from 'zod';
import { parseJson } from '../http/json.ts';
import { checkRedirectUris } from '../options/redirect-uris.ts';
import { visible } from '../pages/html.ts';
import type { SigningAlgorithm } from '../ports/clients.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';

/** Maximum length of the URL of a client's metadata document, in characters. */
const maxUrlLength = 512;
/** Maximum length of the description of a problem in a metadata document, in characters. */
const maxProblemLength = 300;
/** Length to which the name that a metadata document claims is cut, in characters. */
const maxNameLength = 100;

/**
 * Parses a client id as the URL of a client ID metadata document: https, with a path, without user
 * information and fragment, in the canonical spelling of the URL parser. So equal URLs are equal strings,
 * without dot segments and with the host in ASCII. `null` for any other client id.
 *
 * @param allowHttp - accepts http too
 */
export function documentUrl(clientId: string, allowHttp: boolean): URL | null {
  if (!/^https?:\/\//.test(clientId) || clientId.length > maxUrlLength || clientId.includes('#')) return null;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId) return null;
  if (url.protocol !== 'https:' && !allowHttp) return null;
  if (url.username !== '' || url.password !== '' || url.pathname === '/') return null;
  return url;
}

/** Members of a client's metadata document (RFC 7591, section 2) that this service uses. */
export interface ClientMetadata {
  /**
   * Name that the metadata document claims, without characters that hide or reorder text; `null` if it claims
   * none.
   */
  readonly claimedName: string | null;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly idTokenAlg: SigningAlgorithm;
}

/**
 * Thrown for a metadata document that cannot be used. The message gives the reason and may be shown to the
 * client's developer.
 */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';

  constructor(problem: string) {
    // Cleaned and cut, because the text may repeat parts of the document.
    super(problem.slice(0, maxProblemLength).replace(/[^\x20-\x7e]/g, '?'));
  }
}

const includes = (value: string) =>
  z
    .array(z.string())
    .refine((values) => values.includes(value), `must include ${value}`)
    .optional();

const schema = z
  .object({
    client_id: z.string(),
    client_name: z.string().optional(),
    redirect_uris: z.array(z.string()),
    post_logout_redirect_uris: z.array(z.string()).optional(),
    token_endpoint_auth_method: z.string().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
    client_secret: z.never('must not be there').optional(),
    grant_types: includes('authorization_code'),
    response_types: includes('code'),
    id_token_signed_response_alg: z.enum(['RS256', 'ES256']).default('RS256'),
  })
  // One of the two members must name `none` (OpenID Connect Relying Party Metadata Choices 1.0): a client
  // without them would use a secret (RFC 7591, section 2), which it does not have.
  .refine(
    ({ token_endpoint_auth_method: preferred, token_endpoint_auth_methods_supported: others = [] }) =>
      [preferred, ...others].includes('none'),
    {
      path: ['token_endpoint_auth_method'],
      message: 'has to be none, or token_endpoint_auth_methods_supported has to include none',
    },
  );

function checkedUris(uris: readonly string[], name: string): void {
  // Checked by the rules for provisioned public clients that the administrator does not trust specially.
  checkRedirectUris(uris, { isPublic: true, firstParty: false }, name);
}

/** Parses a client's metadata document. @throws DocumentError if it cannot be used */
export function readMetadata(text: string, clientId: string): ClientMetadata {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new DocumentError('it is not strict JSON');
  }
  const result = schema.safeParse(value, inPlainWords);
  if (!result.success) throw new DocumentError(inOneLine(problemsOf(result.error.issues), 'the document'));
  const document = result.data;
  if (document.client_id !== clientId) throw new DocumentError('its client_id is not its URL');
  const { post_logout_redirect_uris: postLogoutRedirectUris = [] } = document;
  try {
    checkedUris(document.redirect_uris, 'redirect_uris');
    if (postLogoutRedirectUris.length > 0) checkedUris(postLogoutRedirectUris, 'post_logout_redirect_uris');
  } catch (error) {
    throw new DocumentError(error instanceof Error ? error.message : String(error));
  }
  const claimedName = visible(document.client_name ?? '')
    .trim()
    .slice(0, maxNameLength);
  return {
    claimedName: claimedName === '' ? null : claimedName,
    redirectUris: document.redirect_uris,
    postLogoutRedirectUris,
    idTokenAlg: document.id_token_signed_response_alg,
  };
}
