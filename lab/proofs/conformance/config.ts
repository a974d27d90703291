/** Credentials of a client in the suite's configuration. */
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
  readonly tasks: readonly Task[];
}

/** Modules in which the user has to sign in a second time, which the suite wants to see on a picture. */
const secondSignIns = ['oidcc-prompt-login', 'oidcc-max-age-1'];

/** Modules that end on an error page at the authorization endpoint. */
const errorPages = [
  'oidcc-ensure-registered-redirect-uri',
  'oidcc-ensure-redirect-uri-in-authorization-request',
  'oidcc-redirect-uri-query-added',
  'oidcc-redirect-uri-query-mismatch',
  'oidcc-ensure-request-object-with-redirect-uri',
];

/** Modules whose logout is refused: the page says so. */
const refusedLogouts = [
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-modified-id-token-hint',
  'oidcc-rp-initiated-logout-bad-id-token-hint',
  'oidcc-rp-initiated-logout-no-id-token-hint',
];

/** Modules whose logout ends on a page of the provider. */
const logoutsWithoutReturn = [
  'oidcc-rp-initiated-logout-no-params',
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
  'oidcc-rp-initiated-logout-only-state',
];

/** Command that waits for any page, and gives the suite its picture. */
const picture = (kind: 'update-image-placeholder' | 'update-image-placeholder-optional') =>
  ['wait', 'xpath', '//*', 10, '.', kind] as const;

/** Returns the configuration of the suite: the clients, and what its browser does on each page. */
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
  const authorize = `${authUrl}/oauth/authorize*`;
  const logout = `${authUrl}/oauth/logout*`;

  function signIn(...first: Task['commands'] & object): Browser {
    return {
      match: authorize,
      tasks: [
        {
          task: 'Sign in',
          optional: true,
          match: `${authUrl}/login*`,
          commands: [...first, ['click', 'id', 'sign-in']],
        },
        {
          task: 'Approve',
          optional: true,
          match: `${authUrl}/oauth/interaction*`,
          commands: [['click', 'css', 'button[value=approve]']],
        },
        {
          task: 'Return to the client',
          match: '*/test/*/callback*',
          commands: [['wait', 'id', 'submission_complete', 10]],
        },
      ],
    };
  }

  /** Returns what the browser does at the logout endpoint; `ended` is the last task. */
  const leaving = (ended: Task): Browser => ({
    match: logout,
    tasks: [
      {
        task: 'Sign out',
        optional: true,
        match: logout,
        commands: [['click', 'css', 'button[value=leave]', 'optional']],
      },
      ended,
    ],
  });

  const shown = (match: string): Browser => ({
    match,
    tasks: [{ task: 'Show the page', match, commands: [picture('update-image-placeholder')] }],
  });
  const overrides = [
    ...secondSignIns.map((name) => [name, [signIn(picture('update-image-placeholder-optional'))]] as const),
    ...errorPages.map((name) => [name, [shown(authorize)]] as const),
    ...refusedLogouts.map((name) => [name, [signIn(), shown(logout)]] as const),
    ...logoutsWithoutReturn.map(
      (name) =>
        [
          name,
          [
            signIn(),
            leaving({
              task: 'Show the page',
              match: logout,
              commands: [picture('update-image-placeholder')],
            }),
          ],
        ] as const,
    ),
  ];
  return {
    alias,
    description: 'Ostiary',
    server: { discoveryUrl: `${authUrl}/.well-known/openid-configuration` },
    ...clients,
    browser: [signIn(), leaving({ task: 'Return to the client', match: '*/test/*/post*' })],
    override: Object.fromEntries(overrides.map(([name, browser]) => [name, { browser }])),
  };
}
