import { type Claim, claim, until } from '../../support/proof.ts';
import type { CollectedSpan, Collector } from './collector.ts';
import type { WatchedStage } from './stage.ts';

/** Kinds of spans in OTLP. */
const kinds = { server: 2, client: 3, consumer: 5 } as const;

const isServer = ({ kind }: CollectedSpan): boolean => kind === kinds.server;

/** Attributes that the semantic conventions require of an HTTP server's span, except for the URL. */
const ofServers = ['http.request.method', 'url.scheme', 'http.route', 'http.response.status_code'];

/** Finds a span by its name. */
const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan | undefined =>
  spans.find((span) => span.name === name);

/** Requests of a sign-in, in the order in which an app and a browser make them. */
const signIn = ['GET /oauth/authorize', 'POST /v1/oauth/token', 'GET /v1/oauth/userinfo'];

/** Follows one payment from the request of the partner to the delivery of its event, across both processes. */
function paymentTrace(spans: readonly CollectedSpan[]): string[] {
  const payment = named(spans, 'POST /v1/partner/payments');
  if (payment === undefined) return ['no span of a payment'];
  const ofTrace = spans.filter(({ traceId }) => traceId === payment.traceId);
  const job = named(ofTrace, 'job transfer');
  const delivery = named(ofTrace, 'POST webhook');
  const problems: string[] = [];
  if (payment.role !== 'web' || (payment.parentSpanId ?? '') !== '')
    problems.push('the payment does not begin the trace');
  if (job?.parentSpanId !== payment.spanId || job.role !== 'worker' || job.kind !== kinds.consumer)
    problems.push(`the job is no child of the payment: ${JSON.stringify(job)}`);
  if (delivery === undefined || delivery.parentSpanId !== job?.spanId || delivery.kind !== kinds.client)
    problems.push(`the delivery is no child of the job: ${JSON.stringify(delivery)}`);
  return problems;
}

/** Checks the spans that a real collector has received from both processes. */
export async function proveTraces(collector: Collector, stage: WatchedStage): Promise<Claim[]> {
  const isComplete = () =>
    signIn.every((name) => named(collector.spans(), name) !== undefined) &&
    paymentTrace(collector.spans()).length === 0;
  await until(isComplete);
  const spans = collector.spans();
  const servers = spans.filter(isServer);
  const incomplete = servers
    .filter(({ name }) => name.includes(' '))
    .filter(({ attributes }) => ofServers.some((attribute) => !(attribute in attributes)));
  const text = collector.text();
  const { credentials } = stage;
  const secrets = [
    ...credentials.clientSecrets,
    ...credentials.apiKeys.flatMap(({ keys }) => keys),
    stage.env.OSTIARY_SEALING_KEYS ?? '',
    stage.load.mix.firstToken,
    '50937000000',
    'whsec_',
    ...credentials.users.map(({ sub }) => sub),
  ];
  const wrongNames = servers.filter(
    ({ name, attributes }) =>
      name !== [attributes['http.request.method'], attributes['http.route']].filter(Boolean).join(' '),
  );
  return [
    ...signIn.map((name) =>
      claim(`trace of a sign-in: ${name}`, named(spans, name) !== undefined, 'arrived'),
    ),
    {
      name: 'trace of a payment: request, job and delivery are parent and child across web and worker',
      problems: paymentTrace(spans),
      found: `${spans.length} spans`,
    },
    {
      name: 'spans of requests have the names and attributes of the conventions',
      problems: [...incomplete, ...wrongNames].map((span) => JSON.stringify(span)),
      found: `${servers.length} requests`,
    },
    {
      name: 'no secret, phone number or user is in what the collector got',
      problems: secrets
        .filter((secret) => secret !== '' && text.includes(secret))
        .map(() => 'a secret was sent'),
      found: `${text.length} characters`,
    },
  ];
}
