/** By the `error` of an attempt; `status` has several. */
export const failures = {
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
};
