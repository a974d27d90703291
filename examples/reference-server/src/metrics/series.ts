import type { IAttributesProcessor, ViewOptions } from '@opentelemetry/sdk-metrics';

/** `2xx` and its like; no answer has no class. */
function classOf(status: unknown): string {
  const digit = Math.floor(Number(status) / 100);
  return digit >= 1 && digit <= 5 ? `${digit}xx` : 'none';
}

/** Every status and method that somebody provokes would be a series of its own, of which a histogram keeps every bucket. */
const byClass: IAttributesProcessor = {
  process({
    'http.request.method': _method,
    'http.response.status_code': status,
    ...labels
  }: Parameters<IAttributesProcessor['process']>[0]) {
    return status === undefined ? labels : { ...labels, 'http.response.status_class': classOf(status) };
  },
};

/** What strangers ask for, and what receivers answer, makes one series per route, or outcome, and class of status. */
export const views: ViewOptions[] = ['ostiary.request.duration', 'ostiary.webhook.attempt.duration'].map(
  (instrumentName) => ({ instrumentName, attributesProcessors: [byClass] }),
);
