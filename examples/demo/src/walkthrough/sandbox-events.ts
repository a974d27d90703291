import { verify } from '@ostiary/webhook-verifier';
import { type PartnerCalls, rowsOf } from './calls.ts';
import { random } from './flow.ts';
import { found } from './found.ts';
import { arrivals, refusalOf, register, type WebhookWalk } from './webhook-walk.ts';

/** Walks through the sandbox console, for partners who write no code. */
async function lookIntoConsole(walk: WebhookWalk, eventId: string): Promise<void> {
  const { report, browser, file, receiver } = walk;
  report.step('The partner opens the sandbox console');
  const home = `${file.authUrl}/sandbox`;
  const keyOf = (wanted: 'live' | 'test') =>
    found(
      file.apiKeys.find(({ mode }) => mode === wanted),
      'key',
    ).key;
  const signIn = async (key: string) => {
    const page = await browser.open(home);
    const form = page.forms.find(({ action }) => action.endsWith('/sandbox/sign-in'));
    return browser.submit(page, found(form, 'form that asks for a key'), { key });
  };
  const refused = await signIn(keyOf('live'));
  const page = await browser.follow(await signIn(keyOf('test')));
  const event = await browser.open(`${home}/events/${eventId}`);
  report.check({
    'a live key does not open it': refused.status === 401,
    'the test key does': page.status === 200 && page.url === home,
    'it shows the endpoint': page.html.includes(`${receiver.origin}/test`),
    'and the event with its deliveries': event.status === 200 && event.html.includes(eventId),
    'and no key': ![page, event].some(({ html }) => html.includes(keyOf('test'))),
  });
}

/** Walks through webhooks with a test key: real webhooks about sandbox data. @throws StepFailed */
export async function walkThroughSandboxEvents(walk: WebhookWalk): Promise<void> {
  const { report, live, test, secrets, file } = walk;
  report.step('With a test key, the partner registers an endpoint of the sandbox');
  const endpoint = await register(walk, '/test');
  const seen = await live.get(`webhooks/${endpoint}`);
  report.check({ 'the live key does not see it': seen.status === 404 });

  report.step('It triggers a test event');
  const message = `Hello ${random().slice(0, 8)}`;
  const trigger = (calls: PartnerCalls) =>
    calls.post('sandbox/events', { type: 'webhook.test', data: { message } });
  const sent = await trigger(test);
  const [{ body, headers }] = await arrivals(walk, 'webhook.test', message);
  const { prefix } = file;
  const verified = await verify(body, headers, { secret: secrets['/test'], prefix });
  const mistaken = verify(body, headers, { secret: secrets['/live'], prefix });
  report.check({
    'it is published': sent.status === 201 && sent.body.mode === 'test',
    'it arrives and verifies': verified.id === sent.body.id && verified.event.mode === 'test',
    'the secret of the live endpoint does not verify it':
      (await refusalOf(mistaken)) === 'signature_mismatch',
    'a live key triggers nothing': (await trigger(live)).status === 404,
  });

  report.step('It pays in the sandbox, where amounts that end in .01 fail');
  const payment = { amount: '10.01', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
  const paid = await test.post('payments', payment);
  const [failed] = await arrivals(walk, 'payment.failed', String(paid.body.id));
  report.check({
    'a transfer is taken on': paid.status === 201 && typeof paid.body.id === 'string',
    'payment.failed arrives at the test endpoint': failed.path === '/test' && failed.status === 200,
  });

  await lookIntoConsole(walk, verified.id);

  report.step('Neither mode sees the events of the other');
  const modes = async (calls: PartnerCalls): Promise<string> =>
    [...new Set(rowsOf(await calls.get('events')).map(({ mode }) => mode))].join();
  report.check({
    'the live key sees live events': (await modes(live)) === 'live',
    'the test key sees those of the sandbox': (await modes(test)) === 'test',
    'the endpoint of the sandbox is removed': (await test.delete(`webhooks/${endpoint}`)).status === 200,
  });
}
