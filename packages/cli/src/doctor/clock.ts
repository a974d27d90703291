import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { probe } from './probe.ts';

const { ok, warning, problem } = findingsOf('clock');

/** Seconds of `Date` headers are cut off, and answers take their time. */
const unremarkableMs = 2_500;
/** Codes and tokens would end noticeably early or late, and receivers of webhooks refuse a difference of 300 s. */
const tooFarMs = 30_000;

function judge(what: string, differenceMs: number): Finding | null {
  const apart = Math.abs(differenceMs);
  if (apart <= unremarkableMs) return null;
  const said = `${what} is ${(apart / 1_000).toFixed(1)} s ${differenceMs > 0 ? 'ahead of' : 'behind'}`;
  const complaint = [
    `${said} the clock of this machine`,
    'Codes, tokens and signatures end early or late.',
    'Run a time service (NTP) on every machine, this one included.',
  ] as const;
  return apart > tooFarMs ? problem(...complaint) : warning(...complaint);
}

/** Whether servers, database and this machine agree about the time. */
export async function checkClock({ settings, now, nodes }: Examined): Promise<readonly Finding[]> {
  const found = [
    judge('the clock of the database', now() - Date.now()),
    ...(nodes ?? []).map(({ facts }) =>
      judge(`the machine of ${facts.name}`, facts.clockAheadMs + now() - Date.now()),
    ),
  ];
  try {
    const probed = await probe(settings.authUrl, settings.sealingKeys);
    if (probed !== null) {
      const { answer } = probed;
      found.push(judge('the server that answers', probed.now - answer.askedAt));
      const date = Date.parse(answer.header('date') ?? '');
      if (!Number.isNaN(date)) found.push(judge('the Date of answers', date + 500 - answer.askedAt));
    }
  } catch {
    // Told with the address.
  }
  const wrong = found.filter((finding) => finding !== null);
  return wrong.length > 0 ? wrong : [ok('all clocks agree')];
}
