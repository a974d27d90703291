import { type Fragment, html } from '@ostiary/core/console';

/** The words of the sandbox console in English; other languages have the same. */
export const english = {
  title: 'Sandbox console',
  testMode: 'Test mode',
  signOut: 'Sign out',
  back: 'Events and endpoints',
  cancel: 'Cancel',
  show: 'Show',
  filter: 'Filter',
  nothingFits: 'Nothing fits this filter.',
  live: 'Live',
  lost: 'No connection, trying again',
  reload: 'Reload the page to see what is new',
  notices: {
    signed_out: 'You are signed out.',
    ended: 'You were signed out: the session is over, or the key no longer opens the console.',
    sent: 'The event is on its way.',
    redelivered: 'The event is on its way again.',
    no_match: 'Nothing was sent: no enabled endpoint takes this type of event.',
    disabled: 'Nothing was sent: the endpoint is disabled. Enable it first.',
    gone: 'Nothing was changed: the endpoint no longer exists.',
    endpoint_added: 'The endpoint is registered.',
    endpoint_enabled: 'The endpoint is enabled.',
    endpoint_disabled: 'The endpoint is disabled, and what was waiting for it is cancelled.',
    endpoint_removed: 'The endpoint is removed, and what was waiting for it is cancelled.',
  },
  signIn: {
    intro: (prefix: Fragment) =>
      html`Sign in with a test API key: it begins with ${prefix} and has the scope <code>webhooks</code>.`,
    key: 'Test API key',
    submit: 'Sign in',
    refused: (prefix: Fragment) =>
      html`This key does not open the console. Only test keys do: they begin with ${prefix}, have the scope <code>webhooks</code>, are in force, need no request signature, and come from an address that they allow.`,
    tooMany: 'There were too many attempts from your address. Please wait a minute.',
    promise: 'The key is not kept in your browser. You are signed out after 8 hours.',
  },
  endpoints: {
    title: 'Endpoints',
    add: 'Add an endpoint',
    emptyTitle: 'No endpoints yet',
    empty: 'Register the address at which your application receives events.',
    enabled: 'Enabled',
    disabled: 'Disabled',
    allTypes: 'All types of events',
    enable: 'Enable',
    disable: 'Disable',
    disableHint: 'Disabling an endpoint cancels what is waiting for it.',
    remove: 'Remove this endpoint',
    removeHint: 'It cannot be brought back, and what is waiting for it is cancelled.',
    removeNow: 'Remove for good',
    removed: 'Removed endpoint',
    since: (time: Fragment) => html`Registered ${time}`,
    addTitle: 'Add an endpoint',
    url: 'URL',
    urlHint: 'A public https address. Each event is sent to it as a POST.',
    secret: 'Webhook secret',
    secretHint:
      '16 to 256 characters, known to your application too. It signs every event and is never shown again.',
    types: 'Types of events',
    refused: 'The endpoint was not registered.',
    badTypes: 'Choose at least one type.',
  },
  trigger: {
    title: 'Trigger a test event',
    intro: 'It looks like a real one and goes to your test endpoints. No money moves.',
    type: 'Type',
    send: 'Send',
    edit: 'Edit the data first',
    editTitle: 'Edit a test event',
    data: 'Data',
    dataHint: 'A JSON object that fits the type. It is the member “data” of the body.',
    refused: 'The event was not sent.',
  },
  events: {
    title: 'Events',
    emptyTitle: 'No events yet',
    empty: 'Trigger one, or make a payment with a test key.',
    newest: 'Newest events',
    older: 'Older events',
    all: 'All types of events',
    body: 'Body',
    bodyHint:
      'Shown with line breaks. It is signed and sent without them, as the same bytes on every attempt.',
    sequence: (number: Fragment) => html`Event ${number}`,
    redeliverAll: 'Deliver again',
    redeliverHint: 'To every enabled endpoint that takes this type now, with the same id and body.',
  },
  requests: {
    title: 'API requests',
    last: 'Last requests',
    emptyTitle: 'No requests yet',
    empty: 'Requests to the partner API with your test keys appear here.',
    all: 'All requests',
    failed: 'Failed requests',
    newest: 'Newest requests',
    older: 'Older requests',
    id: 'Request id',
    idHint: 'The header X-Request-Id of an answer, or the requestId of an error.',
    find: 'Find',
    notFound: 'There is no request with this id. Requests are kept for 7 days.',
    kept: 'The last 5,000 requests of your test keys, for 7 days.',
    status: 'Status',
    time: 'Time',
    duration: 'Duration',
    key: 'API key',
    sent: 'What you sent',
    answered: 'What was answered',
    noBody: 'Nothing is kept: there was no JSON.',
    removed: 'Secrets, and what tells who a person is, are removed. Bodies are kept up to 8 KiB.',
  },
  deliveries: {
    title: 'Deliveries',
    emptyTitle: 'No deliveries',
    emptyEvent: 'No enabled endpoint took this type of event when it was published.',
    emptyEndpoint: 'Nothing was sent to this endpoint yet.',
    again: 'Deliver again here',
    states: {
      pending: 'Waiting',
      delivered: 'Delivered',
      dropped: 'Dropped',
      cancelled: 'Cancelled',
      none: 'No endpoint',
    },
    more: 'Older deliveries',
    all: 'All deliveries',
    andOlder: 'and older ones',
    attempt: (number: Fragment, of: Fragment) => html`Attempt ${number} of ${of}`,
    attemptBeyond: (number: Fragment) => html`Attempt ${number}`,
    succeeded: 'Your endpoint took the event.',
    noStatus: 'No answer',
    whatToDo: 'What to do:',
    answer: (bytes: Fragment) => html`What it answered (${bytes} bytes)`,
    answerCut: 'What it answered (the first 16 KiB)',
    answerTo: (number: number) => `Answer to attempt ${number}`,
    noAnswer: 'It answered with an empty body.',
    next: (time: Fragment) => html`Next attempt ${time}`,
    underWay: 'The first attempt is about to begin.',
    dropped:
      'All attempts failed, so it is not tried again by itself. Deliver it again once the cause is gone.',
    cancelled: 'Cancelled because the endpoint was disabled or removed.',
  },
  /** By the `error` of an attempt; `status` has several. */
  failures: {
    target_refused: {
      what: 'The address is not allowed, so nothing was sent.',
      advice:
        'The host name must resolve, and to public addresses only. Check its DNS records; in development, use a tunnel with a public https address.',
    },
    timeout: {
      what: 'No answer within 10 seconds.',
      advice:
        'Answer 2xx as soon as the event is stored, and do the work afterwards. If nothing reaches your server at all, look at its firewall.',
    },
    connection_refused: {
      what: 'Nothing listens at this address.',
      advice: 'Start the server, and compare its port with the one in the URL.',
    },
    connection_failed: {
      what: 'There is no way to this address.',
      advice: 'Check that the DNS records of the host name lead to a server that is online.',
    },
    connection_reset: {
      what: 'The connection was closed before an answer came.',
      advice: 'Look for a crash in your server’s log, and for a proxy in front of it that gives up early.',
    },
    certificate: {
      what: 'The TLS certificate cannot be trusted.',
      advice:
        'Serve a certificate of a public authority that is in force, covers this host name and comes with its intermediate certificates.',
    },
    tls: {
      what: 'No secure connection came about.',
      advice: 'Check that this port speaks TLS 1.2 or later: plain http does not work here.',
    },
    protocol: {
      what: 'The answer was not proper HTTP/1.1.',
      advice: 'Check that the port belongs to a web server, and that its response headers are small.',
    },
    redirect: {
      what: 'It answered with a redirect, which is not followed.',
      advice: 'Register the final address, often the one with or without a slash at the end.',
    },
    status_denied: {
      what: 'It refused the request.',
      advice:
        'Most often the signature did not match: verify it over the raw bytes of the body, with the secret of this endpoint. Do not ask for a login on this path.',
    },
    status_missing: {
      what: 'It does not take a POST at this path.',
      advice: 'Compare the path in the URL with the route of your application.',
    },
    status_busy: {
      what: 'It said that there were too many requests.',
      advice: 'Exempt this path from your rate limit. The next attempt may pass by itself.',
    },
    status_server: {
      what: 'Your server failed while it handled the event.',
      advice: 'Look at the answer below and into your server’s log for this time.',
    },
    status_other: {
      what: 'It did not answer with a 2xx status.',
      advice: 'Answer any status from 200 to 299 once the event is stored. The answer below may say more.',
    },
    aborted: {
      what: 'The attempt was broken off on our side.',
      advice: 'Nothing for you to do: your server may have seen the event, and it is sent again.',
    },
    internal: {
      what: 'Something went wrong on our side.',
      advice: 'Nothing for you to do: it is tried again. Tell us if it happens often.',
    },
    unknown: { what: 'The attempt failed.', advice: 'The answer below may say more.' },
  },
};

/** Every word of the sandbox console. */
export type Words = typeof english;
