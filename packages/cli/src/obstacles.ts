import type { WebhookObstacle } from '@ostiary/core/admin';

/** Explains in one sentence why a partner's webhooks do not arrive. */
export function obstacleLine(obstacle: WebhookObstacle): string {
  switch (obstacle.reason) {
    case 'partner_disabled':
      return `The partner was disabled at ${obstacle.at} by ${obstacle.by ?? 'an unknown actor'}.`;
    case 'no_endpoint':
      return `No endpoint is registered. Events of the last day that went nowhere: ${obstacle.events}.`;
    case 'no_worker':
      return `No worker takes deliveries: the oldest has been due since ${obstacle.since}. Start a worker.`;
    case 'endpoint_disabled': {
      const { endpointId, url, at, by } = obstacle;
      const change = by === null ? `; its last change was at ${at}` : ` since ${at}, by ${by}`;
      return `${endpointId} (${url}) is disabled${change}.`;
    }
    case 'failing': {
      const { endpointId, url, since, lastAttempt, nextAttemptAt, deliveries } = obstacle;
      const answer = lastAttempt.httpStatus === null ? lastAttempt.error : `HTTP ${lastAttempt.httpStatus}`;
      const next =
        nextAttemptAt === null ? 'no further attempt is planned' : `next attempt at ${nextAttemptAt}`;
      return `${endpointId} (${url}) fails since ${since}: last answer ${answer}, ${deliveries} deliveries wait, ${next}.`;
    }
    case 'no_match':
      return `Events of the last day that matched no endpoint: ${obstacle.events} (${obstacle.types.join(', ')}).`;
  }
}
