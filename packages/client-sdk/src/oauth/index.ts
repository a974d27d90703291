/**
 * Signs users in with Ostiary.
 *
 * @packageDocumentation
 */
export { CallbackError } from './callback.ts';
export {
  type Authorization,
  type AuthorizationRequest,
  type CodeExchange,
  OstiaryOAuth,
  type Tokens,
} from './client.ts';
export type { OstiaryOAuthOptions } from './options.ts';
export type { OAuthScope, PostalAddress, Userinfo, UserinfoFields } from './userinfo.ts';
