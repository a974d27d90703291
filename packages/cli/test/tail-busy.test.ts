import { expect, it } from 'vitest';
import { register, trigger, webhookProvider } from '../../core/test/partner/webhook-shop.ts';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { terminal } from './support.ts';

it('shows a dropped delivery of a partner with more than 500 later ones', async () => {
  const { run, provider } = await terminal(webhookProvider());
  const key = await provider.key({ mode: 'test' });
  const hook = await sink();
  hook.answer = (response) => void response.writeHead(503).end();
  await register(provider, key, hook.url);
  const first = await trigger(provider, key);
  for (const seconds of [0, 60, 300, 1800, 7200]) {
    provider.clock.advance(seconds * 1000 + 1000);
    await provider.ostiary.worker.runDue();
  }
  hook.answer = (response) => void response.writeHead(204).end();
  for (let count = 0; count < 505; count += 1) {
    provider.clock.advance(1);
    await trigger(provider, key);
  }
  const list = await run(`deliveries list ${key.partner} --mode test --status dropped --json`);
  expect(list.json().deliveries).toHaveLength(1);
  const { out } = await run(`tail ${key.partner} --mode test --status dropped --once --json`);
  expect(out).toContain(first.id);
}, 60_000);
