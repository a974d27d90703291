import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { answerFramed, problemRow } from './frame.ts';
import type { Visit } from './visit.ts';

type Action = (visit: Visit, form: ReadonlyMap<string, string>) => Promise<ConsoleAnswer>;

/**
 * Handles a form about an endpoint. If there is no such endpoint (any more), shows a page that says so. It
 * was removed while the form was open, or belongs to another partner, which the page does not reveal.
 */
export const orGone =
  (handle: Action): Action =>
  async (visit, form) => {
    try {
      return await handle(visit, form);
    } catch (error) {
      if (!(error instanceof PartnerError) || error.code !== 'not_found') throw error;
      const { words } = visit.voice;
      return answerFramed(visit, {
        title: words.endpoints.goneTitle,
        layout: 'one',
        status: 404,
        body: html`${problemRow(words.notices.gone)}`,
      });
    }
  };
