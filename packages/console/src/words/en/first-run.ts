export const firstRun = {
  title: 'First steps',
  intro: 'Each one is ticked off when it has happened, here or by the API.',
  done: 'Done:',
  open: 'To do:',
  dismiss: 'Hide until I sign in again',
  endpoint: { title: 'Register an endpoint', go: 'Fill in its address' },
  event: { title: 'Send an event', go: 'Trigger a test event' },
  signature: { title: 'Verify its signature', go: 'Check an endpoint' },
  payment: { title: 'Make a payment', go: 'Make a test payment' },
};
