import { type Fragment, html } from '@ostiary/core/console';

export const tools = {
  title: 'Test tools',
  missing: (scopes: Fragment) =>
    html`This tool needs a key with the scope ${scopes}, which yours does not have. Ask for a test key that has it, and sign in with that.`,
  call: 'The same as an API call',
  user: 'Sandbox user',
  refused: 'It was not done. The API answered:',
  passport: {
    title: 'Passport',
    intro: 'What a user shows you, and you have verified. It lives for 5 minutes.',
    state: 'State',
    valid: 'Valid',
    expired: 'Expired already',
    mint: 'Mint a passport',
    token: 'Passport token',
    once: (time: Fragment) =>
      html`It is shown this once, and ends ${time}. Send it as <code>token</code> to <code>POST /v1/partner/verify</code>.`,
    onceExpired: html`It is shown this once. Send it as <code>token</code> to <code>POST /v1/partner/verify</code>, which answers <code>token_expired</code>.`,
  },
  payment: {
    title: 'Payment',
    intro: 'A transfer to a sandbox user. No money moves.',
    outcome: 'Outcome',
    outcomes: {
      completed: 'Completed (amount .00)',
      failed: 'Failed (amount .01)',
      pending: 'Stays pending (amount .02)',
    },
    amount: 'Amount, without cents',
    amountHint: 'The outcome adds the cents: they decide what becomes of a test payment.',
    amountWrong: 'Write digits alone, such as 125, and not zero where the outcome is “Completed”.',
    currency: 'Currency',
    reference: 'Reference (optional)',
    referenceHint: 'Your own name for the payment. It belongs to one payment for ever.',
    pay: 'Make the payment',
    one: 'Test payment',
    facts: 'Facts',
    status: 'Status',
    states: { pending: 'Pending', completed: 'Completed', failed: 'Failed' },
    total: 'Amount',
    recipient: 'Recipient',
    time: 'Initiated at',
    failure: 'Reason',
    id: 'Transfer id',
    event: 'Event',
    noEventYet: 'An event tells of the end of a payment. This one is pending.',
    noEvent: 'Its event is not among the newest. Look for it in the list of events.',
    another: 'Make another payment',
  },
  kyc: {
    title: 'Identity check',
    intro:
      'Change how the identity check of a sandbox user stands. Your test keys see it in look-ups and verifications, and your test endpoints get the event kyc.updated. After 7 days it is as in the beginning.',
    status: 'New status',
    states: { approved: 'Approved', pending: 'Pending', rejected: 'Rejected' },
    now: 'Now',
    tier: (tier: Fragment) => html`tier ${tier}`,
    changed: 'changed by you',
    change: 'Change it',
    reset: 'Reset every user',
  },
  signature: {
    title: 'Signature check',
    intro:
      'Sends an endpoint two test events at once: one signed with its secret, one with a wrong signature. A right endpoint takes the first with 2xx and refuses the second with 4xx. Neither is listed, and neither is sent again.',
    endpoint: 'Endpoint',
    none: 'There is no enabled endpoint yet.',
    check: 'Check it',
    verdicts: {
      right: 'This endpoint verifies signatures: it took the right event, and refused the forged one.',
      takes_forged:
        'This endpoint took the forged event. Anybody who knows its address could send it events: verify the signature, and refuse with 400 what does not match.',
      fails_at_forged:
        'This endpoint took the right event and not the forged one, but it did not refuse it with 4xx either. Answer 400 where a signature does not match.',
      refuses_genuine:
        'This endpoint did not take the event that was rightly signed. Compare the secret, and verify over the raw bytes of the body.',
      no_answer:
        'This endpoint did not answer the event that was rightly signed, so nothing can be said of it.',
    },
    genuine: 'Rightly signed',
    forged: 'Wrong signature',
    answer: (name: string) => `Answer to: ${name}`,
  },
};
