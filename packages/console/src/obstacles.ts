import type { WebhookObstacle } from '@ostiary/core/console';
import { fill, type Html, html, icons, nameOf } from '@ostiary/core/pages';
import { failureLine } from './delivery.ts';
import { counted, moment } from './parts.ts';
import type { Voice } from './words.ts';

/** Explains in one sentence why a partner's webhooks do not arrive. */
function obstacleSentence(obstacle: WebhookObstacle, { language, words }: Voice): Html {
  const { obstacles: text } = words;
  const at = (time: string): Html => moment(time, language);
  switch (obstacle.reason) {
    case 'partner_disabled': {
      const { by } = obstacle;
      const time = at(obstacle.at);
      if (by === null) return fill(language, text.partnerDisabled, { time });
      return fill(language, text.partnerDisabledBy, { time, name: nameOf(by) });
    }
    case 'no_endpoint':
      if (obstacle.events === 0) return html`${text.noEndpoint}`;
      return fill(language, text.noEndpointEvents, { events: counted(obstacle.events, language) });
    case 'no_worker':
      return fill(language, text.noWorker, { time: at(obstacle.since) });
    case 'endpoint_disabled': {
      const { by, url } = obstacle;
      const known = { url: nameOf(url), time: at(obstacle.at) };
      if (by === null) return fill(language, text.endpointDisabled, known);
      return fill(language, text.endpointDisabledBy, { ...known, name: nameOf(by) });
    }
    case 'failing': {
      const { url, since, lastAttempt, nextAttemptAt } = obstacle;
      const answer = failureLine(lastAttempt, words);
      const known = { url: nameOf(url), time: at(since), answer };
      if (nextAttemptAt === null) return fill(language, text.failing, known);
      return fill(language, text.failingAgain, { ...known, next: at(nextAttemptAt) });
    }
    case 'no_match': {
      const types = nameOf(obstacle.types.join(', '));
      return fill(language, text.noMatch, { events: counted(obstacle.events, language), types });
    }
  }
}

/**
 * Shows why a partner's webhooks do not arrive, the most important reason first; `null` if no reason is
 * known.
 */
export function obstacleNotice(obstacles: readonly WebhookObstacle[], voice: Voice): Html | null {
  if (obstacles.length === 0) return null;
  const isQuiet = obstacles.every((obstacle) => obstacle.reason === 'no_endpoint' && obstacle.events === 0);
  const sentences = obstacles.map((obstacle) => html`<p>${obstacleSentence(obstacle, voice)}</p>`);
  return isQuiet
    ? html`<div class="across muted">${sentences}</div>`
    : html`<div class="notice bad across">${icons.warning}<div>${sentences}</div></div>`;
}
