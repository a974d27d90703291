/**
 * Counts an execution of a transfer of which nobody knows whether money moved: the payment rail threw,
 * answered nonsense, or did not answer in time. Does nothing where the host has registered no meter provider.
 */
export async function countUnknownExecution(): Promise<void> {
  // Loaded when there is something to count, which may be never.
  const { metrics } = await import('@opentelemetry/api');
  // Asked for each time: the host may register its provider after it has loaded this package.
  metrics
    .getMeter('ostiary')
    .createCounter('ostiary.payments.execution.unknown', {
      description: 'Executions of transfers whose outcome is unknown; each is tried again.',
      unit: '{execution}',
    })
    .add(1);
}
