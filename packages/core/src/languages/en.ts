/** English, which says what texts there are. A name in braces, such as `{client}`, is where the pages put something in. */
export const en = {
  signedInAs: 'Signed in as',
  consent: {
    title: 'Allow {client}?',
    /** Follows the client's name in the heading. */
    ask: 'asks for access to your {service} account',
    switchAccount: 'Use another account',
    scopes: 'If you allow it, {client} can:',
    onlyNew: 'It asks for more than you allowed before. What was added is marked “new”.',
    newBadge: 'New',
    noPassword: '{client} never sees your password.',
    withdraw: 'You can withdraw this access at any time under “Connected apps”.',
    sentBack: 'Either way, you return to {host}',
    approve: 'Allow',
    deny: 'Deny',
    terms: 'Terms of the app',
    privacy: 'Privacy at the app',
  },
  apps: {
    title: 'Connected apps',
    intro: 'These apps can see parts of your {service} account because you allowed it.',
    since: 'Allowed on {date}',
    changed: 'Last changed on {date}',
    remove: 'Remove access',
    /** Follows `remove` for those who hear the page. */
    removeOf: 'of {client}',
    removed: 'The app no longer has access to your account.',
    emptyTitle: 'No connected apps',
    empty:
      'When you allow an app to see your {service} account, it appears here and you can remove it again.',
  },
  cancel: {
    title: 'Go back without signing in?',
    text: 'You do not sign in, and {client} gets no access.',
    back: 'Back to {client}',
  },
  logout: {
    title: 'Sign out?',
    ask: 'You are about to sign out of {service}.',
    askedBy: '{client} asks to sign you out of {service}.',
    leave: 'Sign out',
    stay: 'Stay signed in',
    left: {
      title: 'You are signed out',
      advice: 'You are no longer signed in to {service}. You can close this page.',
    },
    stayed: {
      title: 'You are still signed in',
      advice: 'Nothing has changed at {service}. You can close this page.',
    },
  },
  errors: {
    unknown_client: {
      title: 'We do not know this app',
      advice:
        'The app that sent you here is not registered with us, or it was switched off. Go back to the app, and tell its makers if this happens again.',
    },
    redirect_mismatch: {
      title: 'We stopped to protect you',
      advice:
        'The app asked us to send you to an address that it has not registered with us, so we went no further. Nothing was shared. Please tell the makers of the app.',
    },
    invalid_request: {
      title: 'The app made a mistake',
      advice:
        'The app sent us a request that we cannot understand. Go back to the app and try again; tell its makers if it does not help.',
    },
    expired: {
      title: 'This page is no longer valid',
      advice: 'It was open for too long, or you have already answered. Go back to the app and start again.',
    },
    no_cookie: {
      title: 'Your browser did not send our cookie',
      advice:
        'A sign-in goes on only in the browser in which it began, and it needs a cookie. Allow cookies for this site in the settings of your browser, then go back to the app and start again.',
    },
    csrf: {
      title: 'We could not check your answer',
      advice:
        'To be safe, we changed nothing. Make sure that your browser accepts cookies, then go back, reload the page and try again.',
    },
    not_found: {
      title: 'There is no page here',
      advice: 'Check the address, or go back to the app and start again.',
    },
    rate_limited: {
      title: 'Too many attempts',
      advice: 'Please wait a minute, then try again.',
    },
    unavailable: {
      title: 'We will be right back',
      advice: 'The service cannot answer at the moment. Please try again in a few minutes.',
    },
    internal: {
      title: 'Something went wrong on our side',
      advice: 'Please try again. If it does not help, contact us and quote the reference below.',
    },
    method: {
      title: 'This page cannot be opened this way',
      advice: 'Go back to the app and start again.',
    },
  },
  technical: 'For the developers of the app',
  reference: 'Reference:',
};
