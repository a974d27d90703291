import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { random, textOf, type Walk } from './flow.ts';
import { callsOf, type PartnerCalls } from './partner-calls.ts';

/** The passport page, as the signed-in user sees it. */
async function takePassport({ report, browser, file }: Walk): Promise<string> {
  report.step('The user opens their passport');
  const page = await browser.open(`${file.authUrl}/passport`);
  report.check(page.status === 200 && page.html.includes('class="qr"'), 'the page shows it as a QR code');
  return textOf(/id="token"[^>]*>([^<]+)</.exec(page.html)?.[1], 'passport');
}

async function verifyPassport({ report, user }: Walk, live: PartnerCalls, passport: string): Promise<void> {
  report.step('A partner verifies it with an API key');
  const { status, body } = await live.post('/v1/partner/verify', { token: passport });
  report.check(status === 200 && body.valid === true, 'it is genuine and valid');
  report.check(JSON.stringify(body.user).includes(`"kid":"${user.kid}"`), 'and belongs to this user');
  const other = await live.post('/v1/partner/verify', { token: `${passport.slice(0, -4)}AAAA` });
  report.check(other.status === 400 && other.body.code === 'invalid_request', 'a forged one is refused');
}

async function pay({ report, user }: Walk, live: PartnerCalls): Promise<string> {
  report.step('The partner pays the user; the request is signed');
  const idempotencyKey = random();
  const payment = { amount: '25.00', currency: 'HTG', recipient: { kid: user.kid }, reference: random() };
  const created = await live.post('/v1/partner/payments', payment, { idempotencyKey });
  report.check(created.status === 201, 'the transfer is taken on');
  const id = textOf(created.body.id, 'id');
  const replayed = await live.post('/v1/partner/payments', payment, { idempotencyKey });
  report.check(
    replayed.status === 201 &&
      replayed.headers.get('idempotent-replayed') === 'true' &&
      replayed.body.id === id,
    'sent again with the same key it is the same transfer',
  );
  const changed = await live.post(
    '/v1/partner/payments',
    { ...payment, amount: '26.00' },
    { idempotencyKey },
  );
  report.check(
    changed.status === 409 && changed.body.code === 'idempotency_conflict',
    'the same key with another payload is refused',
  );
  const forged = await live.post('/v1/partner/payments', payment, { signature: '0'.repeat(64) });
  report.check(forged.status === 401 && forged.body.code === 'invalid_signature', 'so is a wrong signature');
  return id;
}

/** Asks until the worker has executed the transfer: at most ten seconds. */
async function waitFor({ report }: Walk, live: PartnerCalls, id: string): Promise<string> {
  report.step('The partner inspects the transfer until it is final');
  const deadline = performance.now() + 10_000;
  for (;;) {
    const { status, body } = await live.get(`/v1/partner/payments/${id}`);
    report.check(status === 200 && body.id === id, 'the transfer is there');
    if (body.status !== 'pending' || performance.now() >= deadline) {
      report.check(body.status === 'completed' && body.failure === null, 'it is completed');
      return textOf(body.completedAt, 'completedAt');
    }
    await delay(100);
  }
}

async function lookUp({ report, user }: Walk, live: PartnerCalls): Promise<void> {
  report.step('The partner looks the user up by id and by phone');
  const byId = await live.get(`/v1/partner/users/${user.kid}`);
  report.check(byId.status === 200 && byId.body.kid === user.kid, 'the id finds the user');
  const byPhone = await live.get(`/v1/partner/users/phone/${encodeURIComponent(user.phone)}`);
  report.check(byPhone.status === 200 && byPhone.body.kid === user.kid, 'so does the phone number');
  report.check(!('kycStatus' in byId.body), 'nothing of the identity check without the user’s consent');
  const nobody = await live.get('/v1/partner/users/KNOBODY');
  report.check(nobody.status === 404 && nobody.body.code === 'not_found', 'an unknown id finds nobody');
}

async function reconcile(
  { report }: Walk,
  live: PartnerCalls,
  id: string,
  completedAt: string,
): Promise<void> {
  report.step('The partner exports the day for its reconciliation');
  const { status, body, text } = await live.get(
    `/v1/partner/reconciliation?date=${completedAt.slice(0, 10)}`,
  );
  report.check(status === 200 && Array.isArray(body.data), 'the export comes as JSON');
  const rows: readonly unknown[] = Array.isArray(body.data) ? body.data : [];
  report.check(
    rows.some((row) => JSON.stringify(row).includes(`"id":"${id}"`)),
    'the payment is in it',
  );
  const summary = body.summary as Readonly<Record<string, unknown>> | undefined;
  report.check(summary?.rows === rows.length, 'its summary counts the rows');
  const covered = text.slice(0, text.lastIndexOf('"summary":'));
  const digest = createHash('sha256').update(covered).digest('hex');
  report.check(summary?.sha256 === digest, 'the digest covers every byte before the summary');
}

async function staysInItsSandbox(
  { report, user }: Walk,
  test: PartnerCalls,
  id: string,
  passport: string,
): Promise<void> {
  report.step('A test key of the same partner sees nothing of this');
  report.check((await test.get(`/v1/partner/payments/${id}`)).status === 404, 'not the transfer');
  const { body } = await test.get('/v1/partner/payments');
  report.check(JSON.stringify(body.data) === '[]', 'not in its list either');
  report.check((await test.get(`/v1/partner/users/${user.kid}`)).status === 404, 'not the user');
  report.check(
    (await test.post('/v1/partner/verify', { token: passport })).status === 400,
    'not the passport',
  );
  report.check(
    (await test.get('/v1/partner/users/KID-TEST-APPROVED')).status === 200,
    'but users of the sandbox',
  );
}

/** The partner API, from the passport of a signed-in user to the export. @throws StepFailed */
export async function walkThroughPartnerApi(walk: Walk): Promise<void> {
  const [live, test] = [callsOf(walk, 'live'), callsOf(walk, 'test')];
  const passport = await takePassport(walk);
  await verifyPassport(walk, live, passport);
  const id = await pay(walk, live);
  const completedAt = await waitFor(walk, live, id);
  await lookUp(walk, live);
  await reconcile(walk, live, id, completedAt);
  await staysInItsSandbox(walk, test, id, passport);
}
