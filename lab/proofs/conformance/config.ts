/** Credentials of a client in the configuration of the OpenID conformance suite. */
interface SuiteClient {
  readonly client_id: string;
  readonly client_secret: string;
}

interface Task {
  readonly task: string;
  readonly match: string;
  readonly optional?: boolean;
  readonly commands?: readonly (readonly (string | number)[])[];
}

interface Browser {
  readonly match: string;
  /** Number of page visits for which the conformance suite uses these browser tasks. */
  readonly 'match-limit'?: number;
  readonly tasks: readonly Task[];
}

/** Modules in which the user has to sign in a second time, which the suite wants to see on a picture. */
const secondSignIns = ['oidcc-prompt-login', 'oidcc-max-age-1'];

/** Conformance modules that end on an error page at the authorization endpoint. */
const errorPages = [
  'oidcc-ensure-registered-redirect-uri',
  'oidcc-ensure-redirect-uri-in-authorization-request',
  'oidcc-redirect-uri-query-added',
  'oidcc-redirect-uri-query-mismatch',
  'oidcc-ensure-request-object-with-redirect-uri',
];

/** Conformance modules whose logout the provider refuses with an error page. */
const refusedLogouts = [
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-modified-id-token-hint',
  'oidcc-rp-initiated-logout-bad-id-token-hint',
  'oidcc-rp-initiated-logout-no-id-token-hint',
];

/** Conformance modules whose logout ends on a page of the provider. */
const logoutsWithoutReturn = [
  'oidcc-rp-initiated-logout-no-params',
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-only-state',
];

/** Conformance module in which the user denies the request. */
export const deniedModule = 'fapi2-security-profile-final-user-rejects-authentication';

/** Module that opens a pushed request twice, and in which the user only signs in at the second visit. */
const openedTwice =
  'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds';

/** Conformance module that opens a pushed request again after the user has signed in. */
const openedAgain = 'fapi2-security-profile-final-par-attempt-reuse-request_uri';

/**
 * Conformance modules in which a pushed request is refused, because the request has expired or belongs to
 * another client.
 */
const refusedRequests = [
  'fapi2-security-profile-final-par-attempt-to-use-expired-request_uri',
  'fapi2-security-profile-final-par-attempt-to-use-request_uri-for-different-client',
];

/** Makes the browser command that waits for any page, and uploads its picture to the conformance suite. */
const picture = (kind: 'update-image-placeholder' | 'update-image-placeholder-optional') =>
  ['wait', 'xpath', '//*', 10, '.', kind] as const;

type Commands = Task['commands'] & object;

/** Returns the tasks of the conformance suite's browser on the pages of a provider. */
function browserOf(authUrl: string) {
  const authorize = `${authUrl}/oauth/authorize*`;
  const logout = `${authUrl}/oauth/logout*`;

  /** Returns the browser tasks of a sign-in, from the authorization request to the return to the client. */
  const deciding = (decision: 'approve' | 'deny', first: Commands = []): Browser => ({
    match: authorize,
    tasks: [
      {
        task: 'Sign in',
        optional: true,
        match: `${authUrl}/login*`,
        commands: [...first, ['click', 'id', 'sign-in']],
      },
      {
        task: 'Decide',
        optional: true,
        match: `${authUrl}/oauth/interaction*`,
        commands: [['click', 'css', `button[value=${decision}]`]],
      },
      {
        task: 'Return to the client',
        match: '*/test/*/callback*',
        commands: [['wait', 'id', 'submission_complete', 10]],
      },
    ],
  });

  /** Returns the browser tasks of a logout; `last` is the last of the tasks. */
  const leaving = (last: Task): Browser => ({
    match: logout,
    tasks: [
      {
        task: 'Sign out',
        optional: true,
        match: logout,
        commands: [['click', 'css', 'button[value=leave]', 'optional']],
      },
      last,
    ],
  });

  const showPage = (match: string): Task => ({
    task: 'Show the page',
    match,
    commands: [picture('update-image-placeholder')],
  });

  return {
    deciding,
    signIn: deciding('approve'),
    /** Browser task that takes a picture of the second sign-in. */
    signInShown: deciding('approve', [picture('update-image-placeholder-optional')]),
    leave: leaving({ task: 'Return to the client', match: '*/test/*/post*' }),
    leaveShown: leaving(showPage(logout)),
    logoutShown: { match: logout, tasks: [showPage(logout)] },
    authorizeShown: { match: authorize, tasks: [showPage(authorize)] },
    /** Browser task that takes a picture of the page to which an authorization request leads. */
    nextShown: { match: authorize, tasks: [showPage('*')] },
    /** Browser task that opens an authorization request without signing in. */
    visit: {
      match: authorize,
      tasks: [{ task: 'See the page', match: '*', commands: [['wait', 'xpath', '//*', 10]] }],
    } satisfies Browser,
  };
}

/** Returns the browser tasks of conformance modules that need more than a plain sign-in. */
function overridesOf(browser: ReturnType<typeof browserOf>): Record<string, { browser: Browser[] }> {
  const { deciding, signIn, signInShown, leaveShown, logoutShown, authorizeShown, nextShown, visit } =
    browser;
  const once = (tasks: Browser): Browser => ({ ...tasks, 'match-limit': 1 });
  const all = (names: readonly string[], ...tasks: Browser[]) =>
    names.map((name) => [name, { browser: tasks }] as const);
  return Object.fromEntries([
    ...all([deniedModule], deciding('deny')),
    ...all([openedTwice], once(visit), signIn),
    ...all([openedAgain], once(signIn), nextShown),
    ...all(refusedRequests, authorizeShown),
    ...all(secondSignIns, signInShown),
    ...all(errorPages, authorizeShown),
    ...all(refusedLogouts, signIn, logoutShown),
    ...all(logoutsWithoutReturn, signIn, leaveShown),
  ]);
}

/**
 * Returns the configuration of the conformance suite: the clients, and what the suite's browser does on each
 * page.
 */
export function suiteConfig({
  alias,
  authUrl,
  ...clients
}: {
  readonly alias: string;
  readonly authUrl: string;
  readonly client: SuiteClient;
  readonly client2: SuiteClient;
  readonly client_secret_post: SuiteClient;
}) {
  const browser = browserOf(authUrl);
  return {
    alias,
    description: 'Ostiary',
    server: { discoveryUrl: `${authUrl}/.well-known/openid-configuration` },
    ...clients,
    browser: [browser.signIn, browser.leave],
    override: overridesOf(browser),
  };
}
