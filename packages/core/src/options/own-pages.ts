import type { IncomingMessage } from 'node:http';
import type { ErrorKind } from '../languages/texts.ts';
import type { Language, ScopeTexts } from '../scopes/consent-texts.ts';
import type { Scope } from '../scopes/scopes.ts';

/** Content of your own consent page. */
export interface InteractionDetails {
  readonly interactionId: string;
  readonly client: {
    readonly clientId: string;
    readonly name: string;
    /** On `authUrl`, where the app has one. */
    readonly logoUrl?: string;
    /** Pages of the app, where the administrator has given them. */
    readonly termsUrl?: string;
    readonly privacyUrl?: string;
  };
  /** The signed-in user, who would give the consent. */
  readonly sub: string;
  readonly redirectUri: string;
  /** Show all of them; the user approves all or none. */
  readonly scopes: readonly {
    readonly name: Scope | (string & {});
    /** Not approved for this client before. */
    readonly isNew: boolean;
    /**
     * Texts about the scope, in each language that ships, and in those of the option `languages`. Your own
     * scopes use the first of these languages where they have no text.
     */
    readonly texts: { readonly [L in Language]: ScopeTexts } & {
      readonly [tag: string]: ScopeTexts | undefined;
    };
  }[];
  readonly uiLocales: readonly string[];
  /** Goes into a hidden field of the form, and back into `approve` or `deny`. */
  readonly csrfToken: string;
  /** URL where the user can sign in as someone else. */
  readonly switchAccountUrl: string;
}

/** A page of the host: a complete HTML document, or a response with one. Escape all values in it. */
export type OwnPage = string | Response;

/** Content of a consent page, and the target of its form. */
export interface ConsentPageDetails extends InteractionDetails {
  /** Name of the signed-in user, from `users.find`. */
  readonly user: { readonly name: string | null; readonly handle: string | null };
  /** Target of the form: post `csrf`, the token, and `decision`, which is `approve` or `deny`. */
  readonly action: string;
  /** Language of the page, such as `fr`: one of the option `languages`. */
  readonly language: string;
}

/** An error, for an error page. */
export interface ErrorPageDetails {
  readonly kind: ErrorKind;
  /** With which the page is answered. */
  readonly status: number;
  /** As OAuth names it, such as `invalid_request`. */
  readonly code: string;
  /** Technical words for the developers of the app. */
  readonly description: string;
  /** Leads to the log lines of the request. */
  readonly requestId: string;
  /** Text of the built-in page, in its language. */
  readonly title: string;
  readonly advice: string;
  readonly language: string;
  /**
   * App at which the user can begin again, for a link: its name, and the root of the origin of one of its
   * redirect URIs. Present with the kinds `expired` and `no_cookie`, if the app is on the web and the URL of
   * the page names it.
   */
  readonly app?: { readonly name: string; readonly url: string };
}

/** Pages of the host that replace the built-in ones (option `pages`). */
export interface OwnPages {
  /**
   * The consent page, at the address of the built-in one. For a page at an address of your own see `interactionUrl`.
   * @param request - of the browser, for cookies and headers
   */
  consent?(details: ConsentPageDetails, request: IncomingMessage): Promise<OwnPage> | OwnPage;
  /** The page of every error that a browser meets. Where it fails, or does not answer, the built-in one is shown. */
  error?(details: ErrorPageDetails, request: IncomingMessage): Promise<OwnPage> | OwnPage;
}
