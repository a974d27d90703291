import type { IncomingMessage } from 'node:http';
import type { ErrorKind } from '../languages/texts.ts';
import type { Language, ScopeTexts } from '../scopes/consent-texts.ts';
import type { Scope } from '../scopes/scopes.ts';

/** Data for your own consent page. */
export interface InteractionDetails {
  readonly interactionId: string;
  readonly client: {
    readonly clientId: string;
    readonly name: string;
    /** URL of the app's logo, below `authUrl`; missing if the app has no logo. */
    readonly logoUrl?: string;
    /** URL of the app's terms of service; missing if the administrator set none. */
    readonly termsUrl?: string;
    readonly privacyUrl?: string;
    /**
     * Present for an app that is described by a client ID metadata document and was not checked by any
     * administrator. `name` is then the host name of the document's URL. Your page must say so.
     */
    readonly document?: {
      /** Name that the app's metadata document claims; `null` if it claims none. */
      readonly claimedName: string | null;
      /**
       * True if the response goes to a program on the user's device, where another program could pose as the
       * app.
       */
      readonly returnsToDevice: boolean;
    };
  };
  /** Id of the signed-in user who is asked for consent. */
  readonly sub: string;
  readonly redirectUri: string;
  /** Requested scopes. Show all of them: the user approves them together, except optional ones. */
  readonly scopes: readonly {
    readonly name: Scope | (string & {});
    /** True if the user has not approved this scope for the client and the requested APIs before. */
    readonly isNew: boolean;
    /** True if the user may leave the scope out; see the client's `optionalScopes`. */
    readonly isOptional: boolean;
    /** True if the user left the scope out before. */
    readonly isDeclined: boolean;
    /**
     * Texts about the scope, by language: all built-in languages and those of the option `languages`. Your
     * own scopes use the first of `languages` where they have no text.
     */
    readonly texts: { readonly [L in Language]: ScopeTexts } & {
      readonly [tag: string]: ScopeTexts | undefined;
    };
  }[];
  /**
   * APIs for which the app requests access, if the request names any (option `resources`). Show their names.
   */
  readonly resources?: readonly { readonly uri: string; readonly name: string }[];
  readonly uiLocales: readonly string[];
  /** Token for a hidden field of the form, to be passed to `approve` or `deny`. */
  readonly csrfToken: string;
  /** URL at which the user can sign in as someone else. */
  readonly switchAccountUrl: string;
}

/**
 * A page of the host application: a complete HTML document, or a response that contains one. Escape all
 * values in it.
 */
export type HostPage = string | Response;

/** Data for a consent page, and the target of its form. */
export interface ConsentPageDetails extends InteractionDetails {
  /** Name and handle of the signed-in user, from `users.find`. */
  readonly user: { readonly name: string | null; readonly handle: string | null };
  /**
   * URL to which your form posts. Send the token as `csrf`, and `decision` with `approve` or `deny`. To let
   * the user leave out optional scopes, also send `offered` with their names, separated by spaces, and a
   * checkbox `allow:NAME` for each of them. A scope that is in `offered` but not allowed is left out.
   */
  readonly action: string;
  /** Language of the page, such as `fr`: one of the option `languages`. */
  readonly language: string;
}

/** Data for an error page. */
export interface ErrorPageDetails {
  readonly kind: ErrorKind;
  /** HTTP status of the response. */
  readonly status: number;
  /** OAuth error code, such as `invalid_request`. */
  readonly code: string;
  /** Technical description for the developers of the app. */
  readonly description: string;
  /** Id of the request, which its log lines contain too. */
  readonly requestId: string;
  /** Title of the built-in error page, in the language of the page. */
  readonly title: string;
  readonly advice: string;
  readonly language: string;
  /**
   * App at which the user can start again, for a link: its name, and the root of the origin of one of its
   * redirect URIs. Present for the kinds `expired` and `no_cookie`, if the app is a website and the page's
   * URL identifies it.
   */
  readonly app?: { readonly name: string; readonly url: string };
}

/** Functions of the host application that render pages instead of the built-in ones (option `pages`). */
export interface HostPages {
  /**
   * Renders the consent page at the URL of the built-in consent page. For a page at your own URL see
   * `interactionUrl`.
   * @param request - the browser's request, for its cookies and headers
   */
  consent?(details: ConsentPageDetails, request: IncomingMessage): Promise<HostPage> | HostPage;
  /**
   * Renders the page for every error that a browser shows. If the function fails or does not return in time,
   * the built-in page is shown.
   */
  error?(details: ErrorPageDetails, request: IncomingMessage): Promise<HostPage> | HostPage;
}
