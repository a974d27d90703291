import { createHash } from 'node:crypto';
import { callsOf, isRefused, type PartnerCalls, rowsOf } from './calls.ts';
import { random, type Walk } from './flow.ts';
import { eventually, textOf } from './found.ts';
import type { Fields } from './report.ts';

/** Returns the passport that the passport page shows to the signed-in user. */
export const passportIn = (html: string): string =>
  textOf(/id="token"[^>]*>([^<]+)</.exec(html)?.[1], 'passport');

async function verifyPassport(walk: Walk, live: PartnerCalls): Promise<string> {
  const { report, browser, file, user } = walk;
  report.step('The user opens their passport');
  const { status, html } = await browser.open(`${file.authUrl}/passport`);
  report.check({ 'the page shows it as a QR code': status === 200 && html.includes('class="qr"') });
  const passport = passportIn(html);

  report.step('A partner verifies it with an API key');
  const verified = await live.post('verify', { token: passport });
  const forged = await live.post('verify', { token: `${passport.slice(0, -4)}AAAA` });
  report.check({
    'it is genuine and valid': verified.status === 200 && verified.body.valid === true,
    'and belongs to this user': JSON.stringify(verified.body.user).includes(`"kid":"${user.kid}"`),
    'a forged one is refused': isRefused(forged, 400, 'invalid_request'),
  });
  return passport;
}

async function pay({ report, user }: Walk, live: PartnerCalls): Promise<Fields> {
  report.step('The partner pays the user; the request is signed');
  const idempotencyKey = random();
  const payment = { amount: '25.00', currency: 'HTG', recipient: { kid: user.kid }, reference: random() };
  const created = await live.post('payments', payment, { idempotencyKey });
  const { id } = created.body;
  const replayed = await live.post('payments', payment, { idempotencyKey });
  const isReplay = replayed.status === 201 && replayed.headers.get('idempotent-replayed') === 'true';
  const changed = await live.post('payments', { ...payment, amount: '26.00' }, { idempotencyKey });
  const forged = await live.post('payments', payment, { signature: '0'.repeat(64) });
  report.check({
    'the transfer is taken on': created.status === 201,
    'sent again with the same key it is the same transfer': isReplay && replayed.body.id === id,
    'the same key with another payload is refused': isRefused(changed, 409, 'idempotency_conflict'),
    'so is a wrong signature': isRefused(forged, 401, 'invalid_signature'),
  });

  report.step('The partner inspects the transfer until it is final');
  const final = await eventually('the transfer is final', async () => {
    const { status, body } = await live.get(`payments/${id}`);
    report.check({ 'the transfer is there': status === 200 && body.id === id });
    return body.status === 'pending' ? undefined : body;
  });
  report.check({ 'it is completed': final.status === 'completed' && final.failure === null });
  return final;
}

async function lookUp({ report, user }: Walk, live: PartnerCalls): Promise<void> {
  report.step('The partner reads the user by id and by phone');
  const byId = await live.get(`users/${user.kid}`);
  const byPhone = await live.get(`users/phone/${encodeURIComponent(user.phone)}`);
  const nobody = await live.get('users/KNOBODY');
  report.check({
    'the id finds the user': byId.status === 200 && byId.body.kid === user.kid,
    'so does the phone number': byPhone.status === 200 && byPhone.body.kid === user.kid,
    'nothing of the identity check without the user’s consent': !('kycStatus' in byId.body),
    'an unknown id is not found': isRefused(nobody, 404, 'not_found'),
  });
}

async function reconcile({ report }: Walk, live: PartnerCalls, transfer: Fields): Promise<void> {
  report.step('The partner exports the day for its reconciliation');
  const day = textOf(transfer.completedAt, 'completedAt').slice(0, 10);
  const answer = await live.get(`reconciliation?date=${day}`);
  const { status, body, text } = answer;
  const rows = rowsOf(answer);
  const summary = body.summary as Fields | undefined;
  const covered = text.slice(0, text.lastIndexOf('"summary":'));
  const digest = createHash('sha256').update(covered).digest('hex');
  report.check({
    'the export comes as JSON': status === 200 && Array.isArray(body.data),
    'the payment is in it': rows.some(({ id }) => id === transfer.id),
    'its summary counts the rows': summary?.rows === rows.length,
    'the digest covers every byte before the summary': summary?.sha256 === digest,
  });
}

/** Walks through the partner API, from the passport of a signed-in user to the export. @throws StepFailed */
export async function walkThroughPartnerApi(walk: Walk): Promise<void> {
  const [live, test] = [callsOf(walk, 'live'), callsOf(walk, 'test')];
  const passport = await verifyPassport(walk, live);
  const transfer = await pay(walk, live);
  await lookUp(walk, live);
  await reconcile(walk, live, transfer);

  const { report, user } = walk;
  report.step('A test key of the same partner sees nothing of this');
  const statusOf = async (path: string): Promise<number> => (await test.get(path)).status;
  report.check({
    'not the transfer': (await statusOf(`payments/${transfer.id}`)) === 404,
    'not in its list either': rowsOf(await test.get('payments')).length === 0,
    'not the user': (await statusOf(`users/${user.kid}`)) === 404,
    'not the passport': (await test.post('verify', { token: passport })).status === 400,
    'but users of the sandbox': (await statusOf('users/KID-TEST-APPROVED')) === 200,
  });
}
