import { verify } from '@ostiary/webhook-verifier';
import { found, random } from './flow.ts';
import { StepFailed } from './report.ts';
import { about, register, rowsOf, showDelivery, type WebhookWalk } from './webhook-walk.ts';

/** What a partner sees without writing a program. */
async function lookIntoConsole(
  { report, browser, file, receiver }: WebhookWalk,
  eventId: string,
): Promise<void> {
  report.step('It looks into the sandbox console');
  const home = `${file.authUrl}/sandbox`;
  const signIn = async (mode: 'live' | 'test') => {
    const page = await browser.open(home);
    const form = found(
      page.forms.find(({ action }) => action.endsWith('/sandbox/sign-in')),
      'form that asks for a key',
    );
    const { key } = found(
      file.apiKeys.find((apiKey) => apiKey.mode === mode),
      `${mode} API key`,
    );
    return { key, answer: await browser.submit(page, form, { key }) };
  };
  const refused = await signIn('live');
  report.check(refused.answer.status === 401, 'a live key does not open it');
  const { key, answer } = await signIn('test');
  const page = await browser.follow(answer, () => false);
  report.check(page.status === 200 && page.url === home, 'the test key does');
  report.check(page.html.includes(`${receiver.origin}/test`), 'it shows the endpoint');
  const event = await browser.open(`${home}/events/${eventId}`);
  report.check(event.status === 200 && event.html.includes(eventId), 'and the event with its deliveries');
  report.check(![page, event].some(({ html }) => html.includes(key)), 'and no key');
}

/** The same with a test key: real webhooks about nothing real. @throws StepFailed */
export async function walkThroughSandboxEvents(walk: WebhookWalk): Promise<void> {
  const { report, receiver, live, test, secrets, file } = walk;
  report.step('With a test key, the partner registers an endpoint of the sandbox');
  const endpoint = await register(walk, '/test');
  report.check(
    (await live.get(`/v1/partner/webhooks/${endpoint}`)).status === 404,
    'the live key does not see it',
  );

  report.step('It triggers a test event');
  const message = `Hello ${random().slice(0, 8)}`;
  const event = { type: 'webhook.test', data: { message } };
  const sent = await test.post('/v1/partner/sandbox/events', event);
  report.check(sent.status === 201 && sent.body.mode === 'test', 'it is published');
  const [delivery] = await receiver.until(1, about(walk, 'webhook.test', message));
  if (delivery === undefined) throw new StepFailed('there is no delivery');
  showDelivery(walk, delivery);
  const options = { secret: secrets['/test'], prefix: file.prefix };
  const verified = await verify(delivery.body, delivery.headers, options);
  report.check(verified.id === sent.body.id && verified.event.mode === 'test', 'it arrives and verifies');
  const wrong = await verify(delivery.body, delivery.headers, { ...options, secret: secrets['/live'] }).catch(
    (error: unknown) => error,
  );
  report.check(
    wrong instanceof Error && 'code' in wrong && wrong.code === 'signature_mismatch',
    'the secret of the live endpoint does not verify it',
  );
  report.check(
    (await live.post('/v1/partner/sandbox/events', event)).status === 404,
    'a live key triggers nothing',
  );

  report.step('It pays in the sandbox, where amounts that end in .01 fail');
  const payment = { amount: '10.01', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
  const { status, body } = await test.post('/v1/partner/payments', payment);
  report.check(status === 201 && typeof body.id === 'string', 'a transfer is taken on');
  const [failed] = await receiver.until(1, about(walk, 'payment.failed', String(body.id)));
  if (failed === undefined) throw new StepFailed('there is no delivery');
  showDelivery(walk, failed);
  report.check(
    failed.path === '/test' && failed.status === 200,
    'payment.failed arrives at the test endpoint',
  );

  await lookIntoConsole(walk, verified.id);

  report.step('Neither mode sees the events of the other');
  const modes = async (calls: typeof live): Promise<string> =>
    [...new Set(rowsOf(await calls.get('/v1/partner/events')).map(({ mode }) => String(mode)))].join();
  report.check((await modes(live)) === 'live', 'the live key sees live events');
  report.check((await modes(test)) === 'test', 'the test key sees those of the sandbox');
  const removed = await test.delete(`/v1/partner/webhooks/${endpoint}`);
  report.check(removed.status === 200, 'the endpoint of the sandbox is removed');
}
